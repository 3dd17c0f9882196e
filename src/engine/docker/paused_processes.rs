//! The processes of a paused container, in which nothing can look around: the engine's own list, as `docker top` shows it.

use std::time::Duration;

use bollard::query_parameters::TopOptionsBuilder;

use super::{Client, lifecycle};
use crate::domain::{Phase, Process, SandboxId};

/// Columns of `ps`, in the order in which they are read.
const COLUMNS: &str = "-o pid,ppid,user,state,cputimes,etimes,rss,args";

/// Lists processes by the numbers that they have on the engine's machine; `None` if it is not paused or the engine has no list.
pub(super) async fn processes(client: &Client, id: &SandboxId) -> Option<Vec<Process>> {
    if lifecycle::phase(client, id).await.ok()? != Phase::Paused {
        return None;
    }
    let options = TopOptionsBuilder::new().ps_args(COLUMNS).build();
    let listed = client.docker.top_processes(id.as_str(), Some(options));
    let rows = listed.await.ok()?.processes?;
    let mut found: Vec<Process> = rows.iter().filter_map(|row| process(row)).collect();
    found.sort_by_key(|process| process.pid);
    Some(found)
}

fn process(row: &[String]) -> Option<Process> {
    let [pid, parent, user, state, cpu, age, memory, command] = row else {
        return None;
    };
    let seconds = |text: &str| text.parse().map(Duration::from_secs).ok();
    Some(Process {
        pid: pid.parse().ok()?,
        parent: parent.parse().ok()?,
        user: user.clone(),
        state: state.chars().next()?,
        cpu_time: seconds(cpu)?,
        age: seconds(age)?,
        memory_bytes: memory.parse::<u64>().ok()? * 1024,
        command: command.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_engine_are_read() {
        let row = ["12", "1", "nobody", "S", "3", "60", "4", "sleep 100"].map(str::to_owned);
        let found = process(&row).expect("a process");
        assert_eq!((found.pid, found.parent, found.state), (12, 1, 'S'));
        assert_eq!((found.memory_bytes, found.age.as_secs()), (4096, 60));
        assert_eq!(found.command, "sleep 100");
        assert_eq!(process(&row[1..]), None);
    }
}
