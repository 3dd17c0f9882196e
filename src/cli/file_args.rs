//! What `files` takes.

use std::ffi::OsString;

use clap::Subcommand;

/// Work on files.
#[derive(Debug, Subcommand)]
pub enum FilesVerb {
    /// List a directory
    Ls {
        /// The sandbox
        name: String,
        /// The directory (default: the work directory)
        path: Option<OsString>,
    },
    /// Print files
    Cat {
        /// The sandbox
        name: String,
        /// The files
        #[arg(required = true)]
        paths: Vec<OsString>,
    },
    /// Replace a file by standard input; missing directories above it are made
    Put {
        /// The sandbox
        name: String,
        /// The file
        path: OsString,
        /// Permission bits, such as 755
        #[arg(short, long, value_name = "OCTAL")]
        mode: Option<String>,
    },
    /// Delete files
    Rm {
        /// The sandbox
        name: String,
        /// The files
        #[arg(required = true)]
        paths: Vec<OsString>,
        /// Also directories with all below them
        #[arg(short, long)]
        recursive: bool,
        /// Files that are not there are fine
        #[arg(short, long)]
        force: bool,
    },
    /// Move a file or directory
    Mv {
        /// The sandbox
        name: String,
        /// From
        from: OsString,
        /// To
        to: OsString,
    },
    /// Make directories, with the ones above them
    Mkdir {
        /// The sandbox
        name: String,
        /// The directories
        #[arg(required = true)]
        paths: Vec<OsString>,
    },
    /// Tell about a file
    Stat {
        /// The sandbox
        name: String,
        /// The file
        path: OsString,
    },
}
