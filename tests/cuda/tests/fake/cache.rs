//! The cache of machine code.

use kernite::cuda::cache::{Cache, CacheError, Source, Unsafe};
use kernite::cuda::{Code, LoadOptions, args};
use kernite_cuda_tests::fake::Fake;
use kernite_cuda_tests::kernels::{SAXPY, empty_entry, saxpy};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn text(n: usize) -> String {
    empty_entry(&format!("k{n}"), "", [32, 1, 1])
}

#[test]
fn code_is_assembled_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    let options = LoadOptions::new();
    for round in 0..2 {
        // A new process, as far as the driver is concerned.
        let fake = Fake::new();
        {
            let cache = Cache::open(&path).unwrap();
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o700
            );
            let context = fake.context();
            fake.log();
            let (module, source) = cache.load(&context, SAXPY, &options).unwrap();
            let calls = fake.calls();
            module.kernel("saxpy", &saxpy().signature()).unwrap();
            let assembled = calls.contains(&"cuLinkComplete".into());
            assert_eq!(
                (source, assembled),
                if round == 0 {
                    (Source::Assembled, true)
                } else {
                    (Source::Cache, false)
                }
            );
            assert_eq!(
                cache.load(&context, SAXPY, &options).unwrap().1,
                Source::Cache
            );
            // Other options are other code.
            let (_, source) = cache
                .load(&context, SAXPY, &options.line_info(true))
                .unwrap();
            assert_eq!(
                source,
                if round == 0 {
                    Source::Assembled
                } else {
                    Source::Cache
                }
            );
        }
        fake.assert_clean();
    }
    assert_eq!(files(&path).len(), 2);
    // Another driver is another cache.
    let fake = Fake::new();
    fake.set("driver_version", 12_080);
    let (_, source) = Cache::open(&path)
        .unwrap()
        .load(&fake.context(), SAXPY, &options)
        .unwrap();
    assert_eq!(source, Source::Assembled);
}

#[test]
fn kernels_are_loaded_by_way_of_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    for expected in [Source::Assembled, Source::Cache] {
        let fake = Fake::new();
        {
            let cache = Cache::open(folder.path()).unwrap();
            let context = fake.context();
            let options = LoadOptions::new();
            let (function, source) = context
                .load_kernel_cached(&saxpy(), &options, &cache)
                .unwrap();
            assert_eq!(source, expected);
            assert!(function.is_checked());
            let stream = context.stream().unwrap();
            let x = context.upload(&[0f32; 8]).unwrap();
            let mut y = context.upload(&[0f32; 8]).unwrap();
            let config = function.config_for(8).unwrap();
            function
                .launch(&stream, &config, &args![1.0f32, &x, &mut y])
                .unwrap();
        }
        fake.assert_clean();
    }
}

#[test]
fn what_is_damaged_or_foreign_is_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let context = fake.context();
    let cache = Cache::open(folder.path()).unwrap();
    let load = || cache.load(&context, SAXPY, &LoadOptions::new()).unwrap().1;
    assert_eq!(load(), Source::Assembled);
    let [file] = &files(folder.path())[..] else {
        panic!("one file")
    };
    let whole = fs::read(file).unwrap();
    type Damage = fn(&mut Vec<u8>);
    let damages: [Damage; 6] = [
        |bytes| bytes.clear(),
        |bytes| bytes.truncate(40),
        |bytes| bytes.truncate(bytes.len() - 1),
        |bytes| *bytes.last_mut().unwrap() ^= 1,
        |bytes| bytes[8..16].fill(0xFF),
        |bytes| bytes.extend_from_slice(b"more"),
    ];
    for damage in damages {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        fs::write(file, &bytes).unwrap();
        assert_eq!(load(), Source::Assembled);
        assert_eq!(fs::read(file).unwrap(), whole);
        assert_eq!(load(), Source::Cache);
    }
    // Another key's file under this name, as when two hashes are the same.
    let other = cache
        .load(&context, &text(1), &LoadOptions::new())
        .unwrap()
        .1;
    assert_eq!(other, Source::Assembled);
    let theirs = files(folder.path())
        .into_iter()
        .find(|f| f != file)
        .unwrap();
    fs::copy(&theirs, file).unwrap();
    assert_eq!(load(), Source::Assembled);
    // A directory or a link in the file's place.
    fs::remove_file(file).unwrap();
    std::os::unix::fs::symlink(&theirs, file).unwrap();
    assert_eq!(load(), Source::Assembled);
    fs::remove_file(file).unwrap();
    fs::create_dir(file).unwrap();
    fs::write(file.join("x"), "x").unwrap();
    assert_eq!(load(), Source::NotKept);
    assert_eq!(
        files(folder.path())
            .iter()
            .filter(|f| f.extension().is_some_and(|e| e == "tmp"))
            .count(),
        0
    );
    // Code that the driver does not take back.
    fs::remove_dir_all(file).unwrap();
    assert_eq!(load(), Source::Assembled);
    fake.inject("cuModuleLoadDataEx", 0, 209);
    assert_eq!(load(), Source::Assembled);
}

#[test]
fn errors_of_assembling_come_through() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    {
        let context = fake.context();
        let cache = Cache::open(folder.path()).unwrap();
        let bad = format!("{SAXPY}// fake-fail 218 line 9: nonsense\n");
        let error = cache.load(&context, &bad, &LoadOptions::new()).unwrap_err();
        assert_eq!(
            (error.code(), error.call()),
            (Some(Code::INVALID_PTX), Some("cuLinkAddData_v2"))
        );
        assert!(error.to_string().contains("line 9"), "{error}");
        for name in ["cuLinkCreate_v2", "cuLinkComplete"] {
            fake.inject(name, 0, 2);
            let error = cache
                .load(&context, SAXPY, &LoadOptions::new())
                .unwrap_err();
            assert_eq!(error.call(), Some(name));
        }
        assert!(files(folder.path()).is_empty());
    }
    fake.assert_clean();
}

#[test]
fn the_least_recently_used_go_first() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let context = fake.context();
    let load = |cache: &Cache, n: usize| {
        cache
            .load(&context, &text(n), &LoadOptions::new())
            .unwrap()
            .1
    };
    let cache = Cache::open(folder.path()).unwrap();
    load(&cache, 0);
    let size = fs::metadata(&files(folder.path())[0]).unwrap().len();
    let cache = cache.with_max_bytes(3 * size + size / 2);
    let mut now = SystemTime::now() - Duration::from_secs(1000);
    let mut age = |folder: &Path, before: &[PathBuf]| {
        // Times that differ, without waiting for the clock.
        now += Duration::from_secs(10);
        for file in files(folder).iter().filter(|f| !before.contains(f)) {
            fs::File::options()
                .append(true)
                .open(file)
                .unwrap()
                .set_modified(now)
                .unwrap();
        }
    };
    age(folder.path(), &[]);
    for n in 1..3 {
        let before = files(folder.path());
        load(&cache, n);
        age(folder.path(), &before);
    }
    // 0 is used again, so 1 is the one that goes when 3 comes.
    assert_eq!(load(&cache, 0), Source::Cache);
    load(&cache, 3);
    assert_eq!(files(folder.path()).len(), 3);
    assert_eq!(load(&cache, 0), Source::Cache);
    assert_eq!(load(&cache, 2), Source::Cache);
    assert_eq!(load(&cache, 3), Source::Cache);
    assert_eq!(load(&cache, 1), Source::Assembled);
    // Nothing that is larger than all may be is kept, and other files are left alone.
    let stranger = folder.path().join("README");
    fs::write(&stranger, "not ours").unwrap();
    let tiny = cache.with_max_bytes(10);
    assert_eq!(load(&tiny, 9), Source::NotKept);
    assert!(stranger.is_file());
}

#[test]
fn only_a_directory_of_ones_own_is_safe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    Cache::open(&path).unwrap();
    for mode in [0o720, 0o702, 0o777, 0o1777] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = Cache::open(&path).unwrap_err();
        assert!(
            matches!(
                error,
                CacheError::Unsafe {
                    why: Unsafe::Writable,
                    ..
                }
            ),
            "{error}"
        );
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Cache::open(&path).unwrap();
    // One above it counts too, unless it is sticky.
    let above = folder.path().join("above");
    fs::create_dir(&above).unwrap();
    fs::set_permissions(&above, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(
        Cache::open(above.join("cache")),
        Err(CacheError::Unsafe { .. })
    ));
    fs::set_permissions(&above, fs::Permissions::from_mode(0o1777)).unwrap();
    Cache::open(above.join("cache")).unwrap();
    // Through a link it is the place behind it that counts.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(matches!(Cache::open(&link), Err(CacheError::Unsafe { .. })));
    // A file is no directory.
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(Cache::open(&file), Err(CacheError::Io { .. })));
}

const WORKER: &str = "KERNITE_CACHE_WORKER";

#[test]
fn processes_share_a_directory() {
    if let Ok(folder) = std::env::var(WORKER) {
        return work(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let binary = std::env::current_exe().unwrap();
    let children: Vec<_> = (0..4)
        .map(|_| {
            let mut command = Command::new(&binary);
            command
                .args(["--exact", "cache::processes_share_a_directory"])
                .env(WORKER, folder.path());
            command
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat())
        );
    }
    assert!(
        files(folder.path())
            .iter()
            .all(|f| f.extension().is_some_and(|e| e == "cubin"))
    );
}

/// Loads the same texts over and over while others do, in a directory that holds only some of them.
fn work(folder: &Path) {
    let fake = Fake::new();
    let context = fake.context();
    let cache = Cache::open(folder).unwrap().with_max_bytes(1500);
    for round in 0..100 {
        let n = round * 7 % 8;
        let (module, _) = cache.load(&context, &text(n), &LoadOptions::new()).unwrap();
        module.function(&format!("k{n}")).unwrap();
    }
}
