//! Times a listing. `listing FOLDER THREADS ROUNDS`.
use std::ops::ControlFlow;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let threads = args[2].parse::<usize>().ok().filter(|&n| n > 0);
    let mut times: Vec<f64> = (0..args[3].parse().unwrap())
        .map(|_| {
            let start = Instant::now();
            let options = sessiontree_core::Options { threads, ..Default::default() };
            let scan = sessiontree_core::scan(
                &[sessiontree_core::Source::Agent(args[1].clone().into())],
                options,
                &mut |_| ControlFlow::Continue(()),
            )
            .unwrap();
            let took = start.elapsed().as_secs_f64();
            std::hint::black_box(scan);
            took
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{} {:?} median {:.4} min {:.4}", args[1], threads, times[times.len() / 2], times[0]);
}
