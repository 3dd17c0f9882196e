//! Modules of one folder may not depend on one another in large circles.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{Modules, Path};
use super::source::{Source, production};

/// How many modules may depend on one another in a circle.
const LARGEST_CYCLE: usize = 3;

/// The name of a folder's own file among the files that it holds.
const OWN_FILE: &str = "mod";

/// Does a folder's own file (`mod.rs`) count as one of those in it?
#[derive(Clone, Copy, PartialEq)]
pub enum OwnFile {
    /// It is the face of the folder and its root type: files below use it, and it uses them.
    IsLeftOut,
    Counts,
}

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The dependencies among the files and folders of each folder.
pub fn graphs(sources: &[Source], own_file: OwnFile) -> BTreeMap<String, Graph> {
    let modules = Modules::new(sources);
    let mut graphs: BTreeMap<String, Graph> = BTreeMap::new();
    for folder in modules.folders() {
        graphs.insert(name_of(&folder), Graph::new());
    }
    for source in sources {
        for reference in modules.references(source) {
            let Some(to) = &reference.defined_in else {
                continue;
            };
            let folder = shared(&reference.from, to);
            let (from, to) = (node(&reference.from, &folder), node(to, &folder));
            let is_counted = own_file == OwnFile::Counts || (from != OWN_FILE && to != OWN_FILE);
            if from != to && is_counted {
                let graph = graphs.entry(name_of(&folder)).or_default();
                graph.entry(from).or_default().insert(to);
            }
        }
    }
    graphs
}

fn shared(a: &Path, b: &Path) -> Path {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b);
    same.map(|(part, _)| part.clone()).collect()
}

fn node(module: &Path, folder: &Path) -> String {
    module
        .get(folder.len())
        .map_or_else(|| OWN_FILE.to_owned(), String::clone)
}

fn name_of(folder: &Path) -> String {
    [&["src".to_owned()], folder.as_slice()].concat().join("/")
}

/// Returns the largest set of modules of which each reaches each other.
pub fn largest_cycle(graph: &Graph) -> BTreeSet<String> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = graph
        .keys()
        .map(|node| (node, reach(graph, node)))
        .collect();
    let circle = |node: &String| -> BTreeSet<String> {
        let there = reached[node].iter().copied();
        let and_back = |other: &&String| reached.get(other).is_some_and(|r| r.contains(node));
        there.filter(and_back).cloned().collect()
    };
    let circles = graph.keys().map(circle);
    circles.max_by_key(BTreeSet::len).unwrap_or_default()
}

fn reach<'a>(graph: &'a Graph, start: &'a String) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(node) = waiting.pop() {
        for next in graph.get(node).into_iter().flatten() {
            if found.insert(next) {
                waiting.push(next);
            }
        }
    }
    found
}

/// Writes a circle with what each of its members uses of the others.
fn told(graph: &Graph, cycle: &BTreeSet<String>) -> String {
    let uses = |from: &String| {
        let to: Vec<&str> = graph[from]
            .intersection(cycle)
            .map(String::as_str)
            .collect();
        format!("    {from} -> {}", to.join(" "))
    };
    cycle.iter().map(uses).collect::<Vec<_>>().join("\n")
}

#[test]
fn no_folder_is_a_knot() {
    let graphs = graphs(production(), OwnFile::IsLeftOut);
    let mut wrong = Vec::new();
    for (folder, graph) in &graphs {
        let cycle = largest_cycle(graph);
        if cycle.len() > LARGEST_CYCLE {
            let (now, told) = (cycle.len(), told(graph, &cycle));
            wrong.push(format!(
                "{folder}: {now} in a circle, at most {LARGEST_CYCLE}:\n{told}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
