//! Tests kube on a server that test/clients/field.ts started: its client, a watcher and a
//! controller. Each check prints `ok NAME` or `fail NAME: why`.

mod controller;
mod restart;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Namespace, Secret, Service},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Config, CustomResource, CustomResourceExt,
    api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, Preconditions},
    config::KubeConfigOptions,
    core::Status,
    runtime::{conditions, wait::await_condition},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_value, json};
use std::{collections::BTreeMap, fmt::Debug, time::Duration};

pub const NS: &str = "rust";
pub const WAIT_MAX: Duration = Duration::from_secs(60);

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "field.test", version = "v1", kind = "RustThing", namespaced, status = "RustThingStatus")]
pub struct RustThingSpec {
    #[schemars(range(min = 0))]
    pub size: i64,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct RustThingStatus {
    pub seen: Option<i64>,
}

#[tokio::main]
async fn main() -> Result<()> {
    let client = client_of("admin").await?;
    let namespace = Namespace { metadata: named(NS), ..Namespace::default() };
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await?;
    report("pages", pages(client.clone()).await);
    report("conflicts", conflicts(client.clone()).await);
    report("apply", apply(client.clone()).await);
    report("patches", patches(client.clone()).await);
    report("errors", errors(client.clone()).await);
    report("preconditions", preconditions(client.clone()).await);
    report("custom objects", custom_objects(client.clone()).await);
    let controlled = controller::start(client.clone());
    report("watch through restart", restart::watch_through_restart(client.clone()).await);
    report("controller", controlled.judge(client).await);
    Ok(())
}

async fn client_of(context: &str) -> Result<Client> {
    let options = KubeConfigOptions { context: Some(context.into()), ..KubeConfigOptions::default() };
    Ok(Client::try_from(Config::from_kubeconfig(&options).await?)?)
}

fn report(name: &str, result: Result<()>) {
    match result {
        Ok(()) => println!("ok {name}"),
        Err(error) => println!("fail {name}: {}", format!("{error:#}").replace('\n', " ")),
    }
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() }
}

pub fn config_map(name: &str, data: &[(&str, &str)], set: &str) -> ConfigMap {
    let owned = |pairs: &[(&str, &str)]| pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect::<BTreeMap<_, _>>();
    ConfigMap {
        metadata: ObjectMeta { labels: Some(owned(&[("set", set)])), ..named(name) },
        data: Some(owned(data)),
        ..ConfigMap::default()
    }
}

/// Returns the Status of a rejected call. Fails if the call was not rejected with this code and
/// reason.
fn refused<T: Debug>(code: u16, reason: &str, answer: kube::Result<T>) -> Result<Box<Status>> {
    match answer {
        Err(kube::Error::Api(status)) => {
            ensure!((status.code, status.reason.as_str()) == (code, reason), "refused with {status:?}, not {code} {reason}");
            Ok(status)
        }
        other => bail!("not refused with {code} {reason}: {other:?}"),
    }
}

fn fields_of(status: &Status) -> Vec<String> {
    status.details.iter().flat_map(|details| &details.causes).map(|cause| cause.field.clone()).collect()
}

async fn pages(client: Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, NS);
    for n in 0..25 {
        maps.create(&PostParams::default(), &config_map(&format!("page-{n:02}"), &[("n", &n.to_string())], "pages")).await?;
    }
    let mut params = ListParams::default().limit(10);
    let (mut sizes, mut left) = (vec![], vec![]);
    loop {
        let page = maps.list(&params).await?;
        sizes.push(page.items.len());
        left.push(page.metadata.remaining_item_count);
        match page.metadata.continue_ {
            Some(token) if !token.is_empty() => params = params.continue_token(&token),
            _ => break,
        }
    }
    ensure!((&sizes, &left) == (&vec![10, 10, 5], &vec![Some(15), Some(5), None]), "pages {sizes:?}, left {left:?}");
    refused(400, "BadRequest", maps.list(&ListParams::default().limit(10).continue_token("nonsense")).await)?;
    let found = maps.list(&ListParams::default().fields("metadata.name=page-07")).await?.items;
    ensure!(found.len() == 1 && found[0].data == config_map("", &[("n", "7")], "").data, "by field: {found:?}");
    let only_metadata = maps.list_metadata(&ListParams::default().labels("set=pages")).await?.items;
    ensure!(only_metadata.len() == 25, "{} objects as metadata", only_metadata.len());
    maps.delete_collection(&DeleteParams::default(), &ListParams::default().labels("set in (pages)")).await?;
    ensure!(maps.list(&ListParams::default()).await?.items.is_empty(), "objects are left");
    Ok(())
}

async fn conflicts(client: Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, NS);
    let mut first = maps.create(&PostParams::default(), &config_map("fought-over", &[("a", "1")], "c")).await?;
    let status = refused(409, "AlreadyExists", maps.create(&PostParams::default(), &config_map("fought-over", &[], "c")).await)?;
    ensure!(status.is_already_exists() && status.details.context("no details")?.name == "fought-over");
    first.data = config_map("", &[("a", "2")], "").data;
    maps.replace("fought-over", &PostParams::default(), &first).await?;
    refused(409, "Conflict", maps.replace("fought-over", &PostParams::default(), &first).await)?;
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    ensure!(maps.create(&dry, &config_map("tried", &[], "c")).await?.metadata.uid.is_some(), "a dry run shows the object");
    ensure!(maps.get_opt("tried").await?.is_none(), "a dry run stored its object");
    Ok(())
}

async fn apply(client: Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, NS);
    let wanted = |data: Value| Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": data}));
    let (one, two) = (PatchParams::apply("one"), PatchParams::apply("two"));
    maps.patch("applied", &one, &wanted(json!({"a": "1", "b": "1"}))).await?;
    let status = refused(409, "Conflict", maps.patch("applied", &two, &wanted(json!({"a": "2"}))).await)?;
    ensure!(fields_of(&status) == [".data.a"], "causes {status:?}");
    maps.patch("applied", &two.force(), &wanted(json!({"a": "2"}))).await?;
    let after = maps.patch("applied", &one, &wanted(json!({}))).await?;
    ensure!(after.data == config_map("", &[("a", "2")], "").data, "data {:?}", after.data);
    let owners = after.metadata.managed_fields.unwrap_or_default();
    let of_a: Vec<_> = owners.iter().filter(|owner| format!("{:?}", owner.fields_v1).contains("f:a")).filter_map(|owner| owner.manager.as_deref()).collect();
    ensure!(of_a == ["two"], "owners {of_a:?}");
    Ok(())
}

async fn patches(client: Client) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client, NS);
    let deployment: Deployment = from_value(json!({"metadata": {"name": "patched"}, "spec": {
        "replicas": 1, "selector": {"matchLabels": {"app": "p"}},
        "template": {"metadata": {"labels": {"app": "p"}}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}}}}))?;
    deployments.create(&PostParams::default(), &deployment).await?;
    let sidecar = json!({"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "b:1"}]}}}});
    let containers = |deployment: Deployment| deployment.spec.and_then(|spec| spec.template.spec).map_or(0, |spec| spec.containers.len());
    let params = PatchParams::default();
    let strategic = containers(deployments.patch("patched", &params, &Patch::Strategic(&sidecar)).await?);
    let merged = containers(deployments.patch("patched", &params, &Patch::Merge(&sidecar)).await?);
    ensure!((strategic, merged) == (2, 1), "containers {strategic} after strategic, {merged} after merge");
    let operations: json_patch::Patch = from_value(json!([
        {"op": "test", "path": "/spec/replicas", "value": 1}, {"op": "replace", "path": "/spec/replicas", "value": 3}]))?;
    let json_patch = Patch::Json::<()>(operations);
    deployments.patch("patched", &params, &json_patch).await?;
    refused(422, "Invalid", deployments.patch("patched", &params, &json_patch).await)?;
    let scale = deployments.patch_scale("patched", &params, &Patch::Merge(json!({"spec": {"replicas": 5}}))).await?;
    ensure!(scale.spec.and_then(|spec| spec.replicas) == Some(5), "scale");
    Ok(())
}

async fn errors(client: Client) -> Result<()> {
    let status = refused(404, "NotFound", Api::<ConfigMap>::namespaced(client.clone(), NS).get("absent").await)?;
    ensure!(status.message == "configmaps \"absent\" not found", "{}", status.message);
    let secrets: Api<Secret> = Api::namespaced(client_of("alice").await?, NS);
    let status = refused(403, "Forbidden", secrets.list(&ListParams::default()).await)?;
    ensure!(status.is_forbidden() && status.message.contains("User \"alice\" cannot list resource \"secrets\""), "{}", status.message);
    let wrong: Service = from_value(json!({"metadata": {"name": "wrong"}, "spec": {"ports": [{"port": 80, "targetPort": "not_a_port"}]}}))?;
    let status = refused(422, "Invalid", Api::<Service>::namespaced(client, NS).create(&PostParams::default(), &wrong).await)?;
    ensure!(fields_of(&status) == ["spec.ports[0].targetPort"], "causes {status:?}");
    Ok(())
}

async fn preconditions(client: Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client, NS);
    let made = maps.create(&PostParams::default(), &config_map("guarded", &[], "g")).await?;
    let guard = |uid: Option<String>| DeleteParams::default().preconditions(Preconditions { uid, ..Preconditions::default() });
    refused(409, "Conflict", maps.delete("guarded", &guard(Some("00000000-0000-0000-0000-000000000000".into()))).await)?;
    maps.delete("guarded", &guard(made.metadata.uid.clone())).await?;
    refused(404, "NotFound", maps.delete("guarded", &guard(made.metadata.uid)).await)?;
    Ok(())
}

async fn custom_objects(client: Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.patch("rustthings.field.test", &PatchParams::apply("field"), &Patch::Apply(RustThing::crd())).await?;
    tokio::time::timeout(WAIT_MAX, await_condition(definitions, "rustthings.field.test", conditions::is_crd_established())).await??;
    let things: Api<RustThing> = Api::namespaced(client, NS);
    things.create(&PostParams::default(), &RustThing::new("one", RustThingSpec { size: 1 })).await?;
    let patched = things.patch("one", &PatchParams::default(), &Patch::Merge(json!({"spec": {"size": 2}}))).await?;
    ensure!(patched.spec.size == 2, "patched");
    let told = things.patch_status("one", &PatchParams::default(), &Patch::Merge(json!({"status": {"seen": 2}, "spec": {"size": 9}}))).await?;
    ensure!((told.spec.size, told.status.and_then(|status| status.seen)) == (2, Some(2)), "status");
    ensure!(things.list(&ListParams::default()).await?.items.len() == 1, "list");
    let status = refused(422, "Invalid", things.create(&PostParams::default(), &RustThing::new("two", RustThingSpec { size: -1 })).await)?;
    ensure!(fields_of(&status) == ["spec.size"], "causes {status:?}");
    Ok(())
}
