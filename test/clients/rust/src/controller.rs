//! A controller with kube-runtime. It applies a ConfigMap that each RustThing owns, and reports the
//! observed size in the status.

use crate::{NS, RustThing, RustThingSpec, WAIT_MAX};
use anyhow::{Result, ensure};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    runtime::{Controller, controller::Action, watcher},
};
use serde_json::json;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

pub struct Controlled;

pub fn start(client: Client) -> Controlled {
    let things: Api<RustThing> = Api::namespaced(client.clone(), NS);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NS);
    let run = Controller::new(things, watcher::Config::default())
        .owns(maps, watcher::Config::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_millis(500)), Arc::new(client))
        .for_each(|_| futures::future::ready(()));
    tokio::spawn(run);
    Controlled
}

async fn reconcile(thing: Arc<RustThing>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let maps: Api<ConfigMap> = Api::namespaced(client.as_ref().clone(), NS);
    let things: Api<RustThing> = Api::namespaced(client.as_ref().clone(), NS);
    let name = thing.name_any();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": thing.spec.size.to_string()},
        "metadata": {"name": format!("of-{name}"), "ownerReferences": [thing.controller_owner_ref(&())]}});
    maps.patch(&format!("of-{name}"), &PatchParams::apply("controller").force(), &Patch::Apply(map)).await?;
    let status = json!({"status": {"seen": thing.spec.size}});
    things.patch_status(&name, &PatchParams::default(), &Patch::Merge(status)).await?;
    Ok(Action::await_change())
}

impl Controlled {
    /// Creates and changes objects, deletes one ConfigMap, and verifies that the controller reacts.
    /// The controller has been running since before the restart of the server.
    pub async fn judge(self, client: Client) -> Result<()> {
        let things: Api<RustThing> = Api::namespaced(client.clone(), NS);
        let maps: Api<ConfigMap> = Api::namespaced(client, NS);
        for n in 0..10 {
            things.create(&PostParams::default(), &RustThing::new(&format!("kept-{n}"), RustThingSpec { size: n })).await?;
        }
        for n in 0..10 {
            things.patch(&format!("kept-{n}"), &PatchParams::default(), &Patch::Merge(json!({"spec": {"size": n + 100}}))).await?;
        }
        self.comes_to_rest(&things, &maps).await?;
        maps.delete("of-kept-5", &DeleteParams::default()).await?;
        self.comes_to_rest(&things, &maps).await
    }

    async fn comes_to_rest(&self, things: &Api<RustThing>, maps: &Api<ConfigMap>) -> Result<()> {
        let end = Instant::now() + WAIT_MAX;
        loop {
            let mut behind = vec![];
            for thing in things.list(&ListParams::default()).await?.items {
                let map = maps.get_opt(&format!("of-{}", thing.name_any())).await?;
                let size = map.and_then(|map| map.data).and_then(|data| data.get("size").cloned());
                let seen = thing.status.as_ref().and_then(|status| status.seen);
                if size != Some(thing.spec.size.to_string()) || seen != Some(thing.spec.size) {
                    behind.push(thing.name_any());
                }
            }
            if behind.is_empty() {
                return Ok(());
            }
            ensure!(Instant::now() < end, "not reconciled: {behind:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}
