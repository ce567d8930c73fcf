//! Parent links to a tree: every node once, whatever the links say. No recursion: a tree may be as deep as its file is long.

use super::index::{Index, NEVER, NONE, Number};
use crate::error::{DamageKind, Reports, excerpt};

/// The tree's links, by node.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The parent, [`NONE`] for a root. Hidden nodes have none, and are nobody's parent.
    parents: Vec<Number>,
    /// Nodes whose parent no entry is: roots.
    pub(crate) orphans: Vec<Number>,
    /// The first node, in file order, of every circle of parents: cut off from its own, it is a root.
    pub(crate) circles: Vec<Number>,
}

impl Tree {
    pub(crate) fn of(index: &Index) -> Self {
        let mut orphans = Vec::new();
        let parents = nodes(index)
            .map(|node| match index.parent(node) {
                _ if index.is_hidden(node) => NONE,
                Ok(parent) => parent,
                Err(_) => {
                    orphans.push(node);
                    NONE
                }
            })
            .collect();
        let mut tree = Self { parents, orphans, circles: Vec::new() };
        tree.cut_circles(index);
        tree
    }

    /// Walks up from every node, marking what it passes with the node's number, until it meets a mark: its own means a
    /// circle, which is all the nodes from there on.
    fn cut_circles(&mut self, index: &Index) {
        let mut marks = vec![NONE; self.parents.len()];
        for start in nodes(index) {
            let mut at = start;
            while at != NONE && marks[at as usize] == NONE {
                marks[at as usize] = start;
                at = self.parents[at as usize];
            }
            if at != NONE && marks[at as usize] == start {
                let first = self.circle_from(at).min().unwrap_or(at);
                self.parents[first as usize] = NONE;
                self.circles.push(first);
            }
        }
    }

    fn circle_from(&self, node: Number) -> impl Iterator<Item = Number> {
        let next = move |&at: &Number| Some(self.parents[at as usize]).filter(|&next| next != node);
        std::iter::successors(Some(node), next)
    }

    /// The nodes without children, in file order.
    pub(crate) fn tips(&self, index: &Index) -> Vec<Number> {
        let mut has_children = vec![false; self.parents.len()];
        for &parent in self.parents.iter().filter(|&&parent| parent != NONE) {
            has_children[parent as usize] = true;
        }
        nodes(index).filter(|&node| !has_children[node as usize] && !index.is_hidden(node)).collect()
    }

    /// For each node, the newest activity on the path from its root to it.
    pub(crate) fn newest(&self, index: &Index) -> Vec<i64> {
        let mut newest = vec![None; self.parents.len()];
        let mut path = Vec::new();
        for start in nodes(index) {
            let mut at = start;
            while at != NONE && newest[at as usize].is_none() {
                path.push(at);
                at = self.parents[at as usize];
            }
            let mut above = if at == NONE { NEVER } else { newest[at as usize].unwrap_or(NEVER) };
            while let Some(node) = path.pop() {
                above = above.max(index.node(node).activity);
                newest[node as usize] = Some(above);
            }
        }
        newest.into_iter().map(|time| time.unwrap_or(NEVER)).collect()
    }

    /// Reports what is odd in the tree as a whole; gives the number of its tips.
    pub(crate) fn report(&self, index: &Index, reports: &mut Reports) -> usize {
        for &node in &self.orphans {
            let parent = index.parent(node).err().unwrap_or_default();
            let reason = || format!("no entry has the id {:?} of its parent; read as a root", excerpt(parent));
            reports.add(DamageKind::Parent, index.node(node).place, reason);
        }
        for &node in &self.circles {
            let reason = || format!("its parents lead back to {:?} itself; read as a root", excerpt(index.id(node)));
            reports.add(DamageKind::Circle, index.node(node).place, reason);
        }
        let tips = self.tips(index);
        if let Some(leaf) = index.leaf().filter(|&leaf| tips != [leaf]) {
            let newest = self.newest(index);
            for &tip in tips.iter().filter(|&&tip| newest[tip as usize] > newest[leaf as usize]) {
                let reason =
                    || format!("the branch that ends at {:?} is newer than the leaf's", excerpt(index.id(tip)));
                reports.add(DamageKind::Tip, index.node(tip).place, reason);
            }
        }
        tips.len()
    }
}

/// The children of every node, in file order.
#[derive(Debug)]
pub(crate) struct Children {
    roots: Vec<Number>,
    /// The children of all nodes, node after node, and where each node's end.
    all: Vec<Number>,
    ends: Vec<usize>,
}

impl Children {
    pub(crate) fn of(tree: &Tree, index: &Index) -> Self {
        let parents = &tree.parents;
        let mut roots = Vec::new();
        let mut starts = vec![0_usize; parents.len()];
        for node in nodes(index).filter(|&node| !index.is_hidden(node)) {
            match parents[node as usize] {
                NONE => roots.push(node),
                parent => starts[parent as usize] += 1,
            }
        }
        let mut total = 0;
        for start in &mut starts {
            total += std::mem::replace(start, total);
        }
        let mut all = vec![NONE; total];
        // What is a node's start now is its end when all its children have been put in.
        let mut ends = starts;
        for node in nodes(index).filter(|&node| parents[node as usize] != NONE) {
            let end = &mut ends[parents[node as usize] as usize];
            all[*end] = node;
            *end += 1;
        }
        Self { roots, all, ends }
    }

    /// The nodes without a parent.
    pub(crate) fn roots(&self) -> &[Number] {
        &self.roots
    }

    pub(crate) fn of_node(&self, node: Number) -> &[Number] {
        let node = node as usize;
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start..self.ends[node]]
    }

    /// Sorts the children of each node by `time`, oldest first, ties in file order; one that has none stands with the sibling
    /// before it.
    pub(crate) fn sort(&mut self, time: impl Fn(Number) -> Option<i64>) {
        let mut start = 0;
        let mut keyed = Vec::new();
        for &end in &self.ends {
            let siblings = &mut self.all[start..end];
            start = end;
            if siblings.len() < 2 {
                continue;
            }
            let mut before = i64::MIN;
            keyed.clear();
            keyed.extend(siblings.iter().map(|&node| {
                before = time(node).unwrap_or(before);
                (before, node)
            }));
            keyed.sort_unstable();
            siblings.iter_mut().zip(&keyed).for_each(|(sibling, &(_, node))| *sibling = node);
        }
    }
}

fn nodes(index: &Index) -> impl Iterator<Item = Number> + use<> {
    (0..NONE).take(index.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;

    fn index(entries: &[(&str, Option<&str>, i64)]) -> Index {
        let mut index = Index::default();
        for (&(id, parent, activity), line) in entries.iter().zip(1..) {
            index.add(id, parent, Place { line, offset: 0 }, activity);
        }
        index
    }

    #[test]
    fn a_circle_is_cut_at_its_first_node() {
        let index = index(&[("t", Some("b"), 0), ("a", Some("c"), 0), ("b", Some("a"), 0), ("c", Some("b"), 0)]);
        let tree = Tree::of(&index);
        assert_eq!((tree.circles.as_slice(), tree.parents.as_slice()), ([1].as_slice(), [2, NONE, 1, 2].as_slice()));
        assert_eq!(tree.tips(&index), [0, 3]);
    }

    #[test]
    fn its_own_parent_is_a_root_and_a_strangers_child_too() {
        let index = index(&[("a", Some("a"), 0), ("b", Some("x"), 0)]);
        let tree = Tree::of(&index);
        assert_eq!((tree.circles.as_slice(), tree.orphans.as_slice()), ([0].as_slice(), [1].as_slice()));
        assert_eq!(index.parent(1), Err("x"));
    }

    #[test]
    fn the_last_of_several_with_one_id_stands_for_it() {
        let index = index(&[("a", None, 0), ("b", Some("a"), 0), ("a", Some("b"), 0)]);
        let tree = Tree::of(&index);
        assert!(index.is_hidden(0));
        assert_eq!((tree.circles.as_slice(), tree.tips(&index)), ([1].as_slice(), vec![2]));
    }

    #[test]
    fn the_newest_on_a_path_may_stand_anywhere() {
        let index = index(&[("c", Some("b"), 1), ("a", None, 5), ("b", Some("a"), 3), ("d", Some("a"), 7)]);
        assert_eq!(Tree::of(&index).newest(&index), [5, 5, 5, 7]);
    }

    #[test]
    fn children_stand_in_file_order_until_sorted() {
        let index = index(&[
            ("a", None, 0),
            ("b", Some("a"), 0),
            ("c", Some("a"), 0),
            ("x", None, 0),
            ("d", Some("a"), 0),
            ("e", Some("c"), 0),
            ("b", Some("a"), 0),
        ]);
        let mut children = Children::of(&Tree::of(&index), &index);
        assert_eq!(
            (children.roots(), children.of_node(0), children.of_node(2)),
            (&[0, 3][..], &[2, 4, 6][..], &[5][..])
        );
        let times = [None, None, Some(7), None, None, None, Some(5)];
        children.sort(|node| times[node as usize]);
        assert_eq!((children.roots(), children.of_node(0)), (&[0, 3][..], &[6, 2, 4][..]));
    }

    #[test]
    fn depth_costs_no_stack() {
        let mut index = Index::default();
        let place = Place { line: 1, offset: 0 };
        for number in 0..1_000_000 {
            index.add(&number.to_string(), Some(&(number + 1).to_string()), place, 0);
        }
        let tree = Tree::of(&index);
        assert_eq!((tree.orphans.as_slice(), tree.tips(&index)), ([999_999].as_slice(), vec![0]));
        assert_eq!(tree.newest(&index).len(), 1_000_000);
    }
}
