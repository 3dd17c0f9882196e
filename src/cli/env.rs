//! `--env`: variables for what runs in a sandbox.

/// Reads `KEY=VALUE`; of `KEY` alone the value is the one that it has here, so that no secret stands on a command line.
///
/// # Errors
/// The variable is not set here, or is no text.
pub(super) fn variable(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains('=') {
        return Ok(text.to_owned());
    }
    let value = std::env::var(text).map_err(|error| match error {
        std::env::VarError::NotPresent => {
            format!("the variable {text} is not set here; set it, or write {text}=VALUE")
        }
        std::env::VarError::NotUnicode(_) => format!("the value of {text} is not UTF-8 text"),
    })?;
    Ok(format!("{text}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_takes_the_value_that_it_has_here() {
        assert_eq!(variable("A=b=c"), Ok("A=b=c".into()));
        assert_eq!(variable("A="), Ok("A=".into()));
        let home = std::env::var("PATH").expect("every process has one");
        assert_eq!(variable("PATH"), Ok(format!("PATH={home}")));
        let missing = variable("SANDTOP_NOBODY_SETS_THIS");
        assert!(missing.is_err_and(|why| why.contains("SANDTOP_NOBODY_SETS_THIS is not set")));
    }
}
