//! Two watchers, one with lists and one with streaming lists, during a restart of the server.

use crate::{NS, WAIT_MAX, config_map};
use anyhow::{Context, Result, bail, ensure};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    runtime::{
        WatchStreamExt, reflector,
        reflector::Store,
        watcher::{self, Event},
    },
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::io::{AsyncBufReadExt, BufReader};

type Versions = BTreeMap<String, u64>;

/// What a watcher has observed: its store, and the objects that it received with an older version
/// than before.
struct Watched {
    store: Store<ConfigMap>,
    backwards: Arc<Mutex<Vec<String>>>,
}

fn version_of(map: &ConfigMap) -> u64 {
    map.resource_version().and_then(|version| version.parse().ok()).unwrap_or(0)
}

fn watch(maps: Api<ConfigMap>, config: watcher::Config) -> Watched {
    let (store, writer) = reflector::store();
    let backwards = Arc::new(Mutex::new(vec![]));
    let found = backwards.clone();
    let mut events = kube::runtime::watcher(maps, config.labels("set=watched")).default_backoff().reflect(writer).boxed();
    tokio::spawn(async move {
        let mut latest = Versions::new();
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Apply(map) | Event::InitApply(map)) => {
                    let before = latest.insert(map.name_any(), version_of(&map));
                    if before > Some(version_of(&map)) {
                        found.lock().expect("not poisoned").push(map.name_any());
                    }
                }
                Ok(Event::Delete(map)) => drop(latest.remove(&map.name_any())),
                Ok(Event::Init | Event::InitDone) => (),
                Err(error) => eprintln!("the watcher retries: {error}"),
            }
        }
    });
    Watched { store, backwards }
}

impl Watched {
    fn versions(&self) -> Versions {
        self.store.state().iter().map(|map| (map.name_any(), version_of(map))).collect()
    }

    async fn comes_to(&self, wanted: &Versions) -> Result<()> {
        let end = Instant::now() + WAIT_MAX;
        while self.versions() != *wanted {
            ensure!(Instant::now() < end, "the state is {:?}, not {wanted:?}", self.versions());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let backwards = self.backwards.lock().expect("not poisoned");
        ensure!(backwards.is_empty(), "went back in time: {backwards:?}");
        Ok(())
    }
}

pub async fn watch_through_restart(client: Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, NS);
    for n in 0..10 {
        maps.create(&PostParams::default(), &config_map(&format!("watched-{n}"), &[("n", "0")], "watched")).await?;
    }
    let watchers = [watch(maps.clone(), watcher::Config::default()), watch(maps.clone(), watcher::Config::default().streaming_lists())];
    let listed = now(&maps).await?;
    for (watched, how) in watchers.iter().zip(["the first list", "the first streamed list"]) {
        watched.comes_to(&listed).await.context(how)?;
    }
    for n in 1..100 {
        change(&maps, n).await?;
    }
    println!("restart");
    let mut restarted = tokio::spawn(async { BufReader::new(tokio::io::stdin()).read_line(&mut String::new()).await });
    let mut n = 100;
    while !restarted.is_finished() {
        change(&maps, n).await?;
        n += 1;
    }
    (&mut restarted).await??;
    for n in n..n + 100 {
        change(&maps, n).await?;
    }
    maps.delete("watched-3", &DeleteParams::default()).await?;
    let listed = now(&maps).await?;
    for (watched, how) in watchers.iter().zip(["lists", "streaming lists"]) {
        watched.comes_to(&listed).await.context(how)?;
    }
    Ok(())
}

async fn now(maps: &Api<ConfigMap>) -> Result<Versions> {
    let items = maps.list(&ListParams::default().labels("set=watched")).await?.items;
    Ok(items.iter().map(|map| (map.name_any(), version_of(map))).collect())
}

/// Changes an object. Retries while the server is down.
async fn change(maps: &Api<ConfigMap>, n: u32) -> Result<()> {
    let end = Instant::now() + WAIT_MAX;
    let patch = Patch::Strategic(json!({"data": {"n": n.to_string()}}));
    loop {
        match maps.patch(&format!("watched-{}", n % 10), &PatchParams::default(), &patch).await {
            Ok(_) => return Ok(()),
            Err(kube::Error::Api(status)) if status.code != 429 && status.code < 500 => bail!(status),
            Err(error) if Instant::now() > end => bail!(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}
