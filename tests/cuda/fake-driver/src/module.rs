//! Loading and linking.
//!
//! A text that holds `fake-fail N MESSAGE` fails with code N and MESSAGE in the error log; every other begins with
//! `.version`, or fails with 200. The setting `log` says how logs are written: 0 as a real driver does, 1 not at all, 2 full,
//! 3 five bytes without a NUL.

use crate::image::{self, Entry};
use crate::state::{Kind, State};
use crate::{INVALID_HANDLE, INVALID_VALUE, NOT_FOUND, entry};
use std::ffi::{CStr, c_char, c_void};

/// The option arrays of a call.
struct Options<'a> {
    keys: &'a [u32],
    values: &'a mut [usize],
}

impl Options<'_> {
    unsafe fn new<'a>(count: u32, keys: *mut u32, values: *mut usize) -> Options<'a> {
        if count == 0 {
            return Options {
                keys: &[],
                values: &mut [],
            };
        }
        // SAFETY: the caller passes two arrays of `count`.
        unsafe {
            Options {
                keys: std::slice::from_raw_parts(keys, count as usize),
                values: std::slice::from_raw_parts_mut(values, count as usize),
            }
        }
    }

    fn slot(&mut self, key: u32) -> Option<&mut usize> {
        let at = self.keys.iter().position(|&k| k == key)?;
        self.values.get_mut(at)
    }

    /// Writes a log whose buffer is option `key`; its size is the option behind.
    fn write(&mut self, key: u32, text: &str, mode: i64) {
        let Some(buffer) = self.slot(key).map(|v| *v as *mut u8) else {
            return;
        };
        let Some(size) = self.slot(key + 1) else {
            return;
        };
        let room = *size;
        let bytes: Vec<u8> = match mode {
            1 => return,
            2 => vec![b'x'; room],
            3 => b"error".to_vec(),
            _ => text.bytes().chain([0]).take(room).collect(),
        };
        // SAFETY: the caller passes a buffer of `room` bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer, bytes.len()) };
        // As a real driver does: the length, as a 32-bit number in a pointer's place.
        *size = bytes.len();
    }
}

/// Takes the text of an image in, or says why not, with logs.
fn read(state: &mut State, text: &str, options: &mut Options<'_>) -> Result<String, u32> {
    let mode = state.setting("log").unwrap_or(0);
    // CU_JIT_INFO_LOG_BUFFER and CU_JIT_ERROR_LOG_BUFFER.
    let (info, error) = (3, 5);
    if let Some((_, failure)) = text.split_once("fake-fail ") {
        let line = failure.lines().next().unwrap_or_default();
        let (code, message) = line.split_once(' ').unwrap_or((line, ""));
        options.write(error, message, mode);
        return Err(code.parse().unwrap_or(INVALID_VALUE));
    }
    if !text.trim_start().starts_with(".version") && !text.starts_with("//") {
        options.write(error, "Binary format is not recognized", mode);
        return Err(200);
    }
    options.write(info, "ptxas info    : 0 bytes gmem", mode);
    Ok(text.to_owned())
}

/// The text of an image: PTX up to its NUL, or what our linker put behind an ELF header.
unsafe fn text_of(image: *const c_void) -> String {
    let magic = b"\x7FELF";
    // SAFETY: the image is a text with a NUL or at least a whole ELF header; the first byte tells, and only a text may
    // end before the fourth.
    let is_elf = (0..4).all(|n| unsafe { image.cast::<u8>().add(n).read() } == magic[n]);
    let start = if is_elf { 64 } else { 0 };
    // SAFETY: behind the header of our own cubins there is a text with a NUL.
    let text = unsafe { CStr::from_ptr(image.cast::<c_char>().add(start)) };
    text.to_string_lossy().into_owned()
}

entry! {
    fn cuModuleLoadDataEx(to: *mut usize, image: *const c_void, count: u32, keys: *mut u32, values: *mut usize) |state| {
        let context = state.context()?;
        // SAFETY: the caller passes an image and two arrays of `count`.
        let (text, mut options) = unsafe { (text_of(image), Options::new(count, keys, values)) };
        state.settings.insert("loaded".into(), text.len() as i64);
        let text = read(state, &text, &mut options)?;
        let module = state.add(Kind::Module, context);
        state.object(module, Kind::Module)?.text = text;
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(module) };
        Ok(())
    }

    fn cuModuleGetFunction(to: *mut usize, module: usize, name: *const c_char) |state| {
        // SAFETY: the caller passes a text with a NUL.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        let found = image::find(&state.object(module, Kind::Module)?.text, &name).ok_or(NOT_FOUND)?;
        let context = state.context()?;
        let function = state.add(Kind::Function, context);
        let object = state.object(function, Kind::Function)?;
        object.entry = found;
        object.parent = module;
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(function) };
        Ok(())
    }

    fn cuFuncGetAttribute(to: *mut i32, which: i32, function: usize) |state| {
        state.object(function, Kind::Function)?;
        let usual = match which {
            0 => 1024,
            4 => 32,
            5 => 80,
            6 => 90,
            _ => 0,
        };
        let value = state.setting(&format!("function.{which}")).unwrap_or(usual);
        // SAFETY: the caller passes a pointer to an integer.
        unsafe { to.write(value as i32) };
        Ok(())
    }

    fn cuFuncSetAttribute(function: usize, which: i32, value: i32) |state| {
        state.object(function, Kind::Function)?;
        state.settings.insert(format!("function.set.{which}"), i64::from(value));
        Ok(())
    }

    fn cuFuncGetParamInfo(function: usize, index: usize, offset: *mut usize, size: *mut usize) |state| {
        let place = state.object(function, Kind::Function)?.entry.params.get(index).copied();
        let (at, len) = place.ok_or(INVALID_VALUE)?;
        // SAFETY: the caller passes pointers to integers.
        unsafe {
            offset.write(at);
            size.write(len);
        }
        Ok(())
    }

    fn cuLinkCreate_v2(count: u32, keys: *mut u32, values: *mut usize, to: *mut usize) |state| {
        let context = state.context()?;
        // The option arrays live as long as the linker; they are looked at when text is added.
        state.settings.insert("link.count".into(), i64::from(count));
        state.settings.insert("link.keys".into(), keys as i64);
        state.settings.insert("link.values".into(), values as i64);
        let link = state.add(Kind::Link, context);
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(link) };
        Ok(())
    }

    fn cuLinkAddData_v2(
        link: usize, kind: u32, data: *const c_void, size: usize, _name: *const c_char, _count: u32, _keys: *mut u32,
        _values: *mut usize,
    ) |state| {
        state.object(link, Kind::Link)?;
        if kind != 1 || size == 0 {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller passes `size` bytes, the last of which is a NUL for PTX.
        let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) };
        if bytes[size - 1] != 0 {
            state.violation("PTX for the linker without a NUL");
        }
        let text = CStr::from_bytes_until_nul(bytes).map_err(|_| INVALID_VALUE)?.to_string_lossy().into_owned();
        let setting = |name: &str| state.setting(name).unwrap_or(0);
        let (count, keys, values) = (setting("link.count"), setting("link.keys"), setting("link.values"));
        // SAFETY: the arrays of `cuLinkCreate_v2`, which live as long as the linker.
        let mut options = unsafe { Options::new(count as u32, keys as *mut u32, values as *mut usize) };
        let text = read(state, &text, &mut options)?;
        state.object(link, Kind::Link)?.text = text;
        Ok(())
    }

    fn cuLinkComplete(link: usize, to: *mut *const c_void, size: *mut usize) |state| {
        let object = state.object(link, Kind::Link)?;
        if object.text.is_empty() {
            return Err(INVALID_HANDLE);
        }
        object.bytes = image::cubin(&object.text);
        // SAFETY: the caller passes a pointer to a pointer and one to an integer.
        unsafe {
            to.write(object.bytes.as_ptr().cast());
            size.write(object.bytes.len());
        }
        Ok(())
    }
}

entry! {
    gives back
    fn cuModuleUnload(module: usize) |state| {
        let host = state.host.clone();
        let lost = state.sticky != 0;
        if !lost && state.object(module, Kind::Module)?.uses.iter().any(|&u| !host.has_seen(u)) {
            state.violation("module unloaded while a function of it runs");
        }
        state.objects.retain(|_, object| object.kind != Kind::Function || object.parent != module);
        state.remove(module, Kind::Module)
    }

    fn cuLinkDestroy(link: usize) |state| {
        state.remove(link, Kind::Link)
    }
}

impl State {
    /// The parameters of a function that must be alive.
    pub fn entry_of(&mut self, function: usize) -> Result<(Entry, usize), u32> {
        let object = self.object(function, Kind::Function)?;
        Ok((object.entry.clone(), object.parent))
    }
}
