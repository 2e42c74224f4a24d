//! Square roots and roundings as instructions.
//!
//! The engine's portable arithmetic asks the crate libm for them. On other machines libm takes
//! the processor's instruction; for wasm it may do so on nightly Rust alone, and reckons with
//! integers instead: a square root, of which a step makes millions, takes tens of operations.
//! wasm has had these instructions from the start, and IEEE 754 prescribes every bit of what
//! they give, so each call becomes one instruction, and the bits stay.

use walrus::ir::{BinaryOp, Binop, Call, Instr, InstrLocId, UnaryOp, Unop, VisitorMut};
use walrus::{FunctionId, Module};

/// What libm calls a function, and the instruction that does the same.
const SAME: [(&str, Instruction); 14] = [
    ("sqrt::sqrtf", Instruction::One(UnaryOp::F32Sqrt)),
    ("sqrt::sqrt", Instruction::One(UnaryOp::F64Sqrt)),
    ("floor::floorf", Instruction::One(UnaryOp::F32Floor)),
    ("floor::floor", Instruction::One(UnaryOp::F64Floor)),
    ("ceil::ceilf", Instruction::One(UnaryOp::F32Ceil)),
    ("ceil::ceil", Instruction::One(UnaryOp::F64Ceil)),
    ("trunc::truncf", Instruction::One(UnaryOp::F32Trunc)),
    ("trunc::trunc", Instruction::One(UnaryOp::F64Trunc)),
    ("rint::rintf", Instruction::One(UnaryOp::F32Nearest)),
    ("rint::rint", Instruction::One(UnaryOp::F64Nearest)),
    ("fabs::fabsf", Instruction::One(UnaryOp::F32Abs)),
    ("fabs::fabs", Instruction::One(UnaryOp::F64Abs)),
    (
        "copysign::copysignf",
        Instruction::Two(BinaryOp::F32Copysign),
    ),
    (
        "copysign::copysign",
        Instruction::Two(BinaryOp::F64Copysign),
    ),
];

/// An instruction of one number or of two.
#[derive(Clone, Copy)]
enum Instruction {
    One(UnaryOp),
    Two(BinaryOp),
}

/// Replaces calls of libm by instructions; how many.
///
/// # Errors
/// Where the square roots are not found: the wasm has no names, or libm calls them otherwise.
pub fn take_for_libm(module: &mut Module) -> Result<usize, String> {
    let mut known: Vec<(FunctionId, Instruction)> = Vec::new();
    for (name, instruction) in SAME {
        let name = format!("libm::math::{name}");
        let mut all = module.funcs.iter();
        let found = all.find(|f| f.name.as_ref().is_some_and(|n| plain(n) == name));
        match found {
            Some(function) => known.push((function.id(), instruction)),
            None if name.contains("sqrt") => {
                return Err(format!("there is no function {name} in the wasm"));
            }
            // Not every program rounds in every way.
            None => {}
        }
    }
    let mut swap = Swap { known, swapped: 0 };
    for (_, function) in module.funcs.iter_local_mut() {
        let entry = function.entry_block();
        walrus::ir::dfs_pre_order_mut(&mut swap, function, entry);
    }
    if swap.swapped == 0 {
        return Err("nothing calls libm's square roots".into());
    }
    Ok(swap.swapped)
}

/// A function's path without the compiler's marks: `libm[1f]::math::x::h0a` is `libm::math::x`.
fn plain(name: &str) -> String {
    let parts = name.split("::").filter(|part| {
        let hash = part.strip_prefix('h');
        !hash.is_some_and(|h| h.len() == 16 && h.bytes().all(|b| b.is_ascii_hexdigit()))
    });
    let parts = parts.map(|part| part.split('[').next().unwrap_or(part));
    parts.collect::<Vec<_>>().join("::")
}

struct Swap {
    known: Vec<(FunctionId, Instruction)>,
    swapped: usize,
}

impl VisitorMut for Swap {
    fn visit_instr_mut(&mut self, instr: &mut Instr, _: &mut InstrLocId) {
        let Instr::Call(Call { func }) = instr else {
            return;
        };
        let Some((_, instruction)) = self.known.iter().find(|(id, _)| id == func) else {
            return;
        };
        *instr = match *instruction {
            Instruction::One(op) => Unop { op }.into(),
            Instruction::Two(op) => Binop { op }.into(),
        };
        self.swapped += 1;
    }
}
