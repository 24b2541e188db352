//! As much of PTX as is needed: entries and their parameters.

/// An entry of a text.
#[derive(Clone, Default, Debug)]
pub struct Entry {
    /// Offset and size of each parameter.
    pub params: Vec<(usize, usize)>,
}

/// The entry of a name.
pub fn find(text: &str, name: &str) -> Option<Entry> {
    text.split(".entry").skip(1).find_map(|rest| {
        let rest = rest.trim_start();
        let end = rest.find(|c: char| c == '(' || c == '{' || c.is_whitespace())?;
        let (found, rest) = rest.split_at(end);
        if found != name {
            return None;
        }
        let mut params = Vec::new();
        let mut offset = 0usize;
        let list = rest
            .trim_start()
            .strip_prefix('(')
            .and_then(|r| r.split_once(')'));
        for declaration in list.map_or("", |(list, _)| list).split(',') {
            let Some(size) = declaration.split_whitespace().find_map(size) else {
                continue;
            };
            offset = offset.next_multiple_of(size);
            params.push((offset, size));
            offset += size;
        }
        Some(Entry { params })
    })
}

fn size(word: &str) -> Option<usize> {
    let bits: usize = word
        .strip_prefix(['.'])?
        .strip_prefix(['u', 's', 'b', 'f'])?
        .parse()
        .ok()?;
    Some(bits / 8)
}

/// A cubin with the text behind its header, which is what this driver's linker makes.
pub fn cubin(text: &str) -> Vec<u8> {
    let mut bytes = vec![0u8; 64];
    bytes[..6].copy_from_slice(b"\x7FELF\x02\x01");
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(0);
    bytes
}
