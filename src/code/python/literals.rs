//! Small questions about expressions.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall};

use super::names::Names;

/// Functions that turn hidden text back into code.
const DECODERS: [&str; 10] = [
    "base64.b64decode",
    "base64.b32decode",
    "base64.b85decode",
    "base64.urlsafe_b64decode",
    "base64.decodebytes",
    "zlib.decompress",
    "bz2.decompress",
    "codecs.decode",
    "binascii.unhexlify",
    "marshal.loads",
];

/// Tells whether an expression decodes something, at any depth.
pub(super) fn decodes(names: &Names, expr: &Expr) -> bool {
    struct Search<'a>(&'a Names, bool);
    impl<'a> Visitor<'a> for Search<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Call(call) = expr {
                let name = self.0.resolve(&call.func);
                self.1 |= name.is_some_and(|name| DECODERS.contains(&name.as_str()));
                let method = match &*call.func {
                    Expr::Attribute(attribute) => attribute.attr.as_str(),
                    _ => "",
                };
                self.1 |= method == "fromhex";
            }
            walk_expr(self, expr);
        }
    }
    let mut search = Search(names, false);
    search.visit_expr(expr);
    search.1
}

/// Tells whether an expression is `True`.
pub(super) fn is_true(expr: &Expr) -> bool {
    matches!(expr, Expr::BooleanLiteral(literal) if literal.value)
}

/// Tells whether an expression is `1`.
pub(super) fn is_one(expr: &Expr) -> bool {
    match expr {
        Expr::NumberLiteral(literal) => match &literal.value {
            ruff_python_ast::Number::Int(int) => int.as_u64() == Some(1),
            _ => false,
        },
        _ => false,
    }
}

/// Tells whether a call of `yaml.load` names a loader that runs no code.
pub(super) fn has_safe_loader(call: &ExprCall) -> bool {
    let loader = call.arguments.find_argument_value("Loader", 1);
    let name = match loader {
        Some(Expr::Attribute(attribute)) => attribute.attr.as_str(),
        Some(Expr::Name(name)) => name.id.as_str(),
        _ => "",
    };
    matches!(
        name,
        "SafeLoader" | "CSafeLoader" | "BaseLoader" | "FullLoader"
    )
}
