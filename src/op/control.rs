//! Structured control flow.

macro_rules! control {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            If = 210 "if" [Bool] Inline -> Nothing, TypeSet::NONE, 0, Block, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Opens a block run by the threads for which a is true.", "";
            Else = 211 "else" [] Inline -> Nothing, TypeSet::NONE, 0, Block, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Ends the block of its `if` and opens that of the other threads.", "";
            End = 212 "end" [] Inline -> Nothing, TypeSet::NONE, 0, Block, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Ends an `if` or a `loop`.", "At the end of a loop's continuing part the loop repeats.";
            Loop = 213 "loop" [] Inline -> Nothing, TypeSet::NONE, 0, Block, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Opens a block that repeats until a `break` or `return`.", "A loop without either never ends; that is valid.";
            Continuing = 214 "continuing" [] Inline -> Nothing, TypeSet::NONE, 0, Block, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Ends the body of the loop and opens its continuing part, run before each repetition.", "It sees the values from outside the loop, not those of the body. It holds no loop, break, continue, return or barrier.";
            Break = 215 "break" [] Inline -> Nothing, TypeSet::NONE, 0, Terminator, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Leaves the innermost loop.", "";
            Continue = 216 "continue" [] Inline -> Nothing, TypeSet::NONE, 0, Terminator, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Goes on with the continuing part of the innermost loop.", "";
            Return = 217 "return" [] Inline -> Nothing, TypeSet::NONE, 0, Terminator, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Ends the thread.", "At the end of a kernel it is implied.";
        ] $($more)* }
    };
}
