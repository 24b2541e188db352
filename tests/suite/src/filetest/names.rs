//! SPIR-V disassembly made to read: types and constants by what they are, everything else numbered as it comes.

use std::collections::HashMap;

/// The functions of a disassembled module, one instruction a line, without what declares their types and constants: those
/// stand by name where they are used. Ids are numbered in the order of their appearance, so that a change of the module's
/// head leaves them be.
pub fn readable(disassembly: &str) -> Vec<String> {
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut lines = Vec::new();
    let mut inside = false;
    let mut numbered = 0u32;
    for line in disassembly.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        inside |= words.get(2) == Some(&"OpFunction");
        if !inside {
            if let [id, "=", op, operands @ ..] = &words[..]
                && let Some(name) = name(op, operands, &names)
            {
                names.insert(id, name);
            }
            continue;
        }
        let shown: Vec<String> = words
            .iter()
            .map(|word| {
                if !word.starts_with('%') {
                    return (*word).to_owned();
                }
                let known = names.entry(word).or_insert_with(|| {
                    numbered += 1;
                    numbered.to_string()
                });
                format!("%{known}")
            })
            .collect();
        inside &= words.first() != Some(&"OpFunctionEnd");
        lines.push(shown.join(" "));
    }
    lines
}

/// The name of a type, constant or import; `None` for everything that is numbered.
fn name(op: &str, operands: &[&str], names: &HashMap<&str, String>) -> Option<String> {
    let of = |id: &&str| names.get(*id).map(String::as_str).unwrap_or("unnamed");
    Some(match (op, operands) {
        ("OpTypeVoid", _) => "void".into(),
        ("OpTypeBool", _) => "bool".into(),
        ("OpTypeInt", [width, "0"]) => format!("u{width}"),
        ("OpTypeInt", [width, _]) => format!("i{width}"),
        ("OpTypeFloat", [width, ..]) => format!("f{width}"),
        ("OpTypeVector", [of_type, n]) => format!("{}x{n}", of(of_type)),
        ("OpTypePointer", [class, to]) => format!("{}_{}", class, of(to)),
        ("OpTypeFunction", [result, ..]) => format!("fn_{}", of(result)),
        ("OpConstant", [ty, value]) => format!("{}_{}", of(ty), value.replace('-', "m")),
        ("OpConstantTrue", _) => "true".into(),
        ("OpConstantFalse", _) => "false".into(),
        ("OpConstantNull", [ty]) => format!("null_{}", of(ty)),
        ("OpExtInstImport", [set]) => set.trim_matches('"').into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_read_without_their_head() {
        let text = "; SPIR-V\nOpCapability Shader\n%9 = OpTypeInt 32 1\n%4 = OpTypeVoid\n%5 = OpTypeFunction %4\n\
            %7 = OpConstant  %9  -1\n%8 = OpVariable  %30  Input\n%1 = OpFunction  %4  None %5\n%2 = OpLabel\n\
            %6 = OpLoad  %9  %8\n%3 = OpIAdd  %9  %6 %7\nOpReturn\nOpFunctionEnd";
        assert_eq!(
            readable(text),
            [
                "%1 = OpFunction %void None %fn_void",
                "%2 = OpLabel",
                "%3 = OpLoad %i32 %4",
                "%5 = OpIAdd %i32 %3 %i32_m1",
                "OpReturn",
                "OpFunctionEnd"
            ]
        );
    }
}
