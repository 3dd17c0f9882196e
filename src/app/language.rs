//! The languages that the editor runs: their names, endings and how a file of each is run.

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python 3.
    Python,
    /// JavaScript on Node.js.
    JavaScript,
    /// Bash, or sh where there is no bash.
    Bash,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 3] = [Self::Python, Self::JavaScript, Self::Bash];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::Bash => "bash",
        }
    }

    /// Returns the ending of its files.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Python => "py",
            Self::JavaScript => "js",
            Self::Bash => "sh",
        }
    }

    /// Guesses from a name or an alias such as `py`, `node` or `sh`.
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "python" | "python3" | "py" => Some(Self::Python),
            "javascript" | "js" | "node" | "nodejs" | "mjs" | "cjs" => Some(Self::JavaScript),
            "bash" | "sh" | "shell" => Some(Self::Bash),
            _ => None,
        }
    }

    /// Returns the command that runs a file of it.
    #[must_use]
    pub fn command(self, path: &str) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Python => &["python3", path],
            Self::JavaScript => &["node", path],
            Self::Bash => &[
                "sh",
                "-c",
                "if command -v bash >/dev/null 2>&1; then exec bash \"$0\"; else exec sh \"$0\"; fi",
                path,
            ],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// Returns a first program, shown in an empty editor.
    #[must_use]
    pub fn starter(self) -> &'static str {
        match self {
            Self::Python => "import platform\n\nprint(\"hello from\", platform.node())\n",
            Self::JavaScript => "console.log(\"hello from\", process.version);\n",
            Self::Bash => "echo \"hello from $(hostname)\"\n",
        }
    }
}
