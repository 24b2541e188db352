//! A part as a list of named values, which `inspect` prints and `diff` compares.
#![forbid(unsafe_code)]

use kernite::dxbc::part::{
    Part, Program, Psv, PsvElement, Rdat, RdatBody, RdatString, RootDescriptor, RootPayload,
    RootSignature, Signature, SourceInfo, SourceSectionKind,
};

/// More records of a table than this are counted, not shown.
const MOST: usize = 1000;
/// Longer strings and bytes are cut.
const LONG: usize = 160;

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    Number(u64),
    Text(String),
}

/// Named values, in order.
#[derive(Default)]
pub struct Rows(pub Vec<(String, Value)>);

impl Rows {
    fn number(&mut self, name: impl Into<String>, n: impl Into<u64>) {
        self.0.push((name.into(), Value::Number(n.into())));
    }

    fn text(&mut self, name: impl Into<String>, s: impl ToString) {
        self.0.push((name.into(), Value::Text(s.to_string())));
    }

    fn bytes(&mut self, name: impl Into<String>, b: &[u8]) {
        if !b.is_empty() {
            let hex: String = b
                .iter()
                .take(LONG / 2)
                .map(|b| format!("{b:02x}"))
                .collect();
            let more = if b.len() > LONG / 2 { "..." } else { "" };
            self.text(name, format!("{} bytes: {hex}{more}", b.len()));
        }
    }

    fn more(&mut self, name: &str, count: usize) {
        if count > MOST {
            self.number(format!("{name}, not shown"), (count - MOST) as u64);
        }
    }
}

/// Bytes of a string, escaped.
fn string(b: &[u8]) -> String {
    let cut = b.get(..LONG).unwrap_or(b);
    let more = if b.len() > LONG { "..." } else { "" };
    format!("{}{more}", cut.escape_ascii())
}

/// `first..=last`, or a mark for no end.
fn registers(space: u32, lower: u32, upper: u32) -> String {
    let upper = if upper == u32::MAX {
        "unbounded".to_owned()
    } else {
        upper.to_string()
    };
    format!("space {space}, registers {lower} to {upper}")
}

pub fn describe(part: &Part) -> Rows {
    let mut rows = Rows::default();
    match part {
        Part::Program(p) => program(p, &mut rows),
        Part::Features(p) => {
            rows.text("flags", format!("{:#x} ({})", p.flags.0, p.flags));
            rows.bytes("trailing", &p.trailing);
        }
        Part::Hash(p) => {
            rows.number("flags", p.flags);
            rows.text("digest", p.digest);
            rows.bytes("trailing", &p.trailing);
        }
        Part::Psv(p) => psv(p, &mut rows),
        Part::Signature(p) => signature(p, &mut rows),
        Part::RootSignature(p) => root_signature(p, &mut rows),
        Part::Rdat(p) => rdat(p, &mut rows),
        Part::Version(p) => {
            rows.text("version", format!("{}.{}", p.major, p.minor));
            rows.number("flags", p.flags);
            rows.number("commits", p.commit_count);
            if let Some(s) = &p.commit_sha {
                rows.text("commit", string(s));
            }
            if let Some(s) = &p.custom_version {
                rows.text("custom version", string(s));
            }
        }
        Part::DebugName(p) => {
            rows.number("flags", p.flags);
            rows.text("name", string(&p.name));
        }
        Part::SourceInfo(p) => source_info(p, &mut rows),
        Part::PdbInfo(p) => {
            rows.number("version", p.version);
            rows.text("compression", p.compression);
            rows.number("uncompressed size", p.uncompressed_size);
            rows.bytes("data", &p.data);
            rows.bytes("trailing", &p.trailing);
        }
        Part::Private(b) | Part::Unknown(b) => rows.bytes("data", b),
        _ => rows.text("part", "of a kind this example does not print"),
    }
    rows
}

fn program(p: &Program, rows: &mut Rows) {
    rows.text("program", p.version);
    let (major, minor) = (p.dxil_version >> 8, p.dxil_version & 0xff);
    rows.text("DXIL version", format!("{major}.{minor}"));
    rows.number("size in words", p.size_in_words);
    if !p.size_agrees() {
        rows.text("size", "is not that of the part");
    }
    rows.number("bitcode bytes", p.bitcode.len() as u64);
    if !p.has_bitcode_magic() {
        rows.text("bitcode", "does not begin with 42 43 C0 DE");
    }
    rows.text("bitcode MD5", kernite::dxbc::Digest::md5(&p.bitcode));
    rows.bytes("gap", &p.gap);
    rows.bytes("trailing", &p.trailing);
}

fn psv(p: &Psv, rows: &mut Rows) {
    rows.text("version", format!("{:?}", p.version()));
    let waves = (p.info.minimum_wave_lanes, p.info.maximum_wave_lanes);
    if waves != (0, u32::MAX) {
        rows.text("wave lanes", format!("{} to {}", waves.0, waves.1));
    }
    if let Some(stage) = p.stage() {
        rows.text("stage", stage);
        rows.text("stage fields", format!("{:?}", p.info.stage(stage)));
    } else {
        rows.bytes("stage fields", &p.info.stage_info);
    }
    if let Some([x, y, z]) = p.info.num_threads {
        rows.text("threads", format!("{x} x {y} x {z}"));
    }
    match p.entry_name() {
        Ok(Some(name)) => rows.text("entry", string(name)),
        Ok(None) => {}
        Err(e) => rows.text("entry", e),
    }
    if let Some(bytes) = p.info.group_shared_bytes {
        rows.number("group-shared bytes", bytes);
    }
    if let Some(v1) = &p.info.v1 {
        rows.number("uses view ID", v1.uses_view_id);
        rows.number("input vectors", v1.input_vectors);
        rows.text("output vectors", format!("{:?}", v1.output_vectors));
    }
    for (i, r) in p.resources.iter().take(MOST).enumerate() {
        let mut text = format!(
            "{} {}",
            r.ty,
            registers(r.space, r.lower_bound, r.upper_bound)
        );
        if let Some(e) = r.extension {
            text += &format!(", {}, flags {:#x}", e.kind, e.flags);
        }
        rows.text(format!("resource {i}"), text);
    }
    rows.more("resources", p.resources.len());
    for (list, elements) in [
        ("input", &p.inputs),
        ("output", &p.outputs),
        ("patch constant", &p.patch_constants),
    ] {
        for (i, e) in elements.iter().enumerate() {
            rows.text(format!("{list} {i}"), psv_element(p, e));
        }
    }
    rows.bytes("strings", &p.string_table);
    if !p.semantic_indexes.is_empty() {
        let shown = &p.semantic_indexes[..p.semantic_indexes.len().min(MOST)];
        rows.text("semantic indices", format!("{shown:?}"));
    }
    let d = &p.dependencies;
    for (name, list) in d
        .view_id_outputs
        .iter()
        .map(|l| ("view ID to outputs", l))
        .chain([("view ID to patch constants", &d.view_id_patch_constants)])
        .chain(d.input_to_outputs.iter().map(|l| ("inputs to outputs", l)))
        .chain([("inputs to patch constants", &d.input_to_patch_constants)])
        .chain([("patch constants to outputs", &d.patch_constant_to_outputs)])
    {
        if !list.is_empty() {
            rows.text(name, format!("{:x?}", &list[..list.len().min(MOST)]));
        }
    }
    rows.bytes("info, unknown fields", &p.info.extra);
    rows.bytes("trailing", &p.trailing);
}

fn psv_element(p: &Psv, e: &PsvElement) -> String {
    let name = match p.element_name(e) {
        Ok(name) => string(name),
        Err(e) => format!("({e})"),
    };
    let indexes = match p.element_indexes(e) {
        Ok(list) => format!("{list:?}"),
        Err(e) => format!("({e})"),
    };
    format!(
        "`{name}` {indexes} {}, {}, {}, rows {} from {}, cols {} from {}, stream {}",
        e.semantic_kind,
        e.component_type(),
        e.interpolation_mode,
        e.rows,
        e.start_row,
        e.cols(),
        e.start_col(),
        e.stream()
    )
}

fn signature(p: &Signature, rows: &mut Rows) {
    rows.number("elements", p.elements.len() as u64);
    for (i, e) in p.elements.iter().take(MOST).enumerate() {
        // Only the beginning of a name is looked at: names may be shared, and long.
        let name = p.name(e).map(string).unwrap_or_default();
        let register = match e.register {
            u32::MAX => "none".to_owned(),
            r => r.to_string(),
        };
        rows.text(
            format!("element {i}"),
            format!(
                "{name}{} {}, {}, register {register}, mask {:04b}, used {:04b}, stream {}, precision {}",
                e.semantic_index,
                e.system_value,
                e.component_type,
                e.mask,
                e.rw_mask,
                e.stream,
                e.min_precision
            ),
        );
    }
    rows.more("elements", p.elements.len());
    rows.bytes("gap", &p.gap);
}

fn root_signature(p: &RootSignature, rows: &mut Rows) {
    rows.text("version", format!("{:?}", p.version));
    rows.text("flags", format!("{:#x}", p.flags));
    let descriptor = |kind: &str, d: &RootDescriptor| {
        format!(
            "{kind} register {} space {} flags {:#x}",
            d.register, d.space, d.flags
        )
    };
    for (i, param) in p.parameters.iter().take(MOST).enumerate() {
        let name = format!("parameter {i}");
        let text = match &param.payload {
            RootPayload::Table(ranges) => format!("table of {} ranges", ranges.len()),
            RootPayload::Constants {
                register,
                space,
                count,
            } => {
                format!("{count} constants, register {register} space {space}")
            }
            RootPayload::Cbv(d) => descriptor("CBV", d),
            RootPayload::Srv(d) => descriptor("SRV", d),
            RootPayload::Uav(d) => descriptor("UAV", d),
            _ => "of a kind this example does not print".to_owned(),
        };
        rows.text(&name, format!("{text}, visible to {}", param.visibility));
        if let RootPayload::Table(ranges) = &param.payload {
            for (j, r) in ranges.iter().take(MOST).enumerate() {
                let last = match r.count {
                    u32::MAX => u32::MAX,
                    n => r.base_register.saturating_add(n.saturating_sub(1)),
                };
                let registers = registers(r.space, r.base_register, last);
                let offset = match r.offset {
                    u32::MAX => "append".to_owned(),
                    n => n.to_string(),
                };
                let text = format!(
                    "{} {registers}, flags {:#x}, offset {offset}",
                    r.ty, r.flags
                );
                rows.text(format!("{name} range {j}"), text);
            }
        }
    }
    rows.more("parameters", p.parameters.len());
    for (i, s) in p.static_samplers.iter().take(MOST).enumerate() {
        rows.text(
            format!("static sampler {i}"),
            format!(
                "register {} space {}, filter {:#x}, address {:?}, anisotropy {}, comparison {}, border {}, \
                 LOD {} to {} bias {}, visible to {}, flags {:#x}",
                s.register,
                s.space,
                s.filter,
                s.address,
                s.max_anisotropy,
                s.comparison,
                s.border_color,
                f32::from_bits(s.min_lod),
                f32::from_bits(s.max_lod),
                f32::from_bits(s.mip_lod_bias),
                s.visibility,
                s.flags
            ),
        );
    }
    rows.more("static samplers", p.static_samplers.len());
}

fn rdat(p: &Rdat, rows: &mut Rows) {
    rows.text("version", format!("{:#x}", p.version));
    let name = |r: RdatString| match p.string(r) {
        Ok(Some(s)) => format!("`{}`", string(s)),
        Ok(None) => "none".to_owned(),
        Err(e) => format!("({e})"),
    };
    for (i, part) in p.parts.iter().enumerate() {
        // Each row may look for a string as long as the part: rows of all tables count together.
        if rows.0.len() > MOST {
            rows.number("parts, not shown", (p.parts.len() - i) as u64);
            break;
        }
        let title = format!("{i} {}", part.kind);
        match &part.body {
            RdatBody::Strings(b) | RdatBody::RawBytes(b) | RdatBody::Opaque(b) => {
                rows.bytes(&title, b);
            }
            RdatBody::Indexes(w) => {
                rows.text(&title, format!("{:?}", &w[..w.len().min(MOST)]));
            }
            RdatBody::Resources(t) => {
                for (j, r) in t.records.iter().take(MOST).enumerate() {
                    let v = r.value;
                    let text = format!(
                        "{} {} {}, ID {}, {}, flags {:#x}",
                        name(v.name),
                        v.class,
                        v.kind,
                        v.id,
                        registers(v.space, v.lower_bound, v.upper_bound),
                        v.flags
                    );
                    rows.text(format!("{title} {j}"), text);
                }
                rows.more(&title, t.records.len());
            }
            RdatBody::Functions(t) => {
                for (j, f) in t.records.iter().take(MOST).enumerate() {
                    let v = f.value;
                    let resources = match p.array(v.resources) {
                        Ok(list) => format!(
                            "{:?}",
                            list.unwrap_or_default().iter().take(64).collect::<Vec<_>>()
                        ),
                        Err(e) => format!("({e})"),
                    };
                    let mut text = format!(
                        "{} {}, resources {resources}, payload {}, attributes {}, features {}, stages {:#x}, \
                         target {:#x}",
                        name(v.unmangled_name),
                        v.kind(),
                        v.payload_size,
                        v.attribute_size,
                        v.features,
                        v.shader_stage_flag,
                        v.min_shader_target
                    );
                    if let Some(v2) = v.v2 {
                        text += &format!(", waves {} to {}", v2.min_wave_lanes, v2.max_wave_lanes);
                    }
                    rows.text(format!("{title} {j}"), text);
                }
                rows.more(&title, t.records.len());
            }
            RdatBody::Subobjects(t) => {
                for (j, s) in t.records.iter().take(MOST).enumerate() {
                    let v = s.value;
                    let text = format!("{} {}, {:x?}", name(v.name), v.kind, v.fields);
                    rows.text(format!("{title} {j}"), text);
                }
                rows.more(&title, t.records.len());
            }
            RdatBody::Pairs(t) => {
                for (j, r) in t.records.iter().take(MOST).enumerate() {
                    rows.text(
                        format!("{title} {j}"),
                        format!("{:#x}, {:#x}", r.value.0, r.value.1),
                    );
                }
                rows.more(&title, t.records.len());
            }
            RdatBody::NodeInfos(t) => {
                for (j, r) in t.records.iter().take(MOST).enumerate() {
                    rows.text(format!("{title} {j}"), format!("{:?}", r.value));
                }
                rows.more(&title, t.records.len());
            }
            _ => rows.text(&title, "of a kind this example does not print"),
        }
    }
}

fn source_info(p: &SourceInfo, rows: &mut Rows) {
    rows.number("flags", p.flags);
    for (i, s) in p.sections.iter().take(MOST).enumerate() {
        let title = format!("section {i} {}", s.kind);
        let shown = match s.kind {
            SourceSectionKind::SOURCE_NAMES => s.names().map(|l| {
                l.iter()
                    .take(MOST)
                    .map(|n| format!("`{}` ({} bytes)", string(n.name), n.content_size))
                    .collect::<Vec<_>>()
                    .join(", ")
            }),
            SourceSectionKind::ARGS => s.args().map(|l| {
                l.iter()
                    .take(MOST)
                    .map(|a| {
                        format!("-{} {}", string(a.name), string(a.value))
                            .trim()
                            .to_owned()
                    })
                    .collect::<Vec<_>>()
                    .join(" ")
            }),
            _ => {
                rows.bytes(&title, &s.data);
                continue;
            }
        };
        match shown {
            Ok(text) => rows.text(&title, text),
            Err(e) => rows.text(&title, e),
        }
    }
    rows.bytes("unused", &p.unused);
    rows.bytes("trailing", &p.trailing);
}
