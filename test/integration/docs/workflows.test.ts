/**
 * Tests the files in .github. CI also checks the workflows with actionlint (`.ci/run`), which
 * checks the syntax of GitHub Actions but not the rules of this repository.
 */
import assert from 'node:assert/strict'
import { accessSync, constants, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { load } from 'js-yaml'

const root = join(import.meta.dirname, '..', '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const workflows = ['.github/workflows/ci.yml', '.github/workflows/release.yml']
/** The files that use actions. action.yml is the action of this repository. */
const users = [...workflows, 'action.yml']

type Job = {
  readonly permissions?: { readonly [scope: string]: string }
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[]
}
type Workflow = {
  readonly permissions: { readonly [scope: string]: string }
  readonly jobs: { readonly [name: string]: Job }
}

/** Parses YAML. `JSON.parse` gives the result the type that the caller expects. */
const parseYaml = (path: string) => JSON.parse(JSON.stringify(load(read(path))))
const parse = (path: string): Workflow => parseYaml(path)
const jobsOf = (path: string): [string, Job][] => Object.entries(parse(path).jobs)

test('workflows pin each action by the SHA of a commit, with the version of the action next to it', () => {
  for (const path of users) {
    const uses = read(path).match(/uses: .*/g) ?? []
    assert.ok(uses.length > 0)
    for (const one of uses) assert.match(one, /^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  }
})

test('all workflows pin an action by the same commit', () => {
  const pins = users.flatMap((path) => read(path).match(/(?<=uses: ).*/g) ?? [])
  const actions = new Set([...new Set(pins)].map((pin) => pin.replace(/@.*/, '')))
  assert.equal(new Set(pins).size, actions.size)
})

test('each step of a workflow is a single command that calls a script of the repository', () => {
  for (const path of workflows) {
    const commands = jobsOf(path).flatMap(([, { steps }]) => steps.flatMap(({ run }) => run ?? []))
    assert.ok(commands.length > 0)
    for (const command of commands) {
      const script = /^(?:node )?((?:\.ci|scripts)\/[\w.-]+)(?: --?[\w-]+| \w+)*$/.exec(
        command,
      )?.[1]
      assert.ok(command === 'npm ci' || script !== undefined, `${path}: ${command}`)
      if (script !== undefined) accessSync(join(root, script), constants.R_OK)
    }
  }
})

test('only the publishing job has write permissions', () => {
  for (const path of workflows) {
    assert.deepEqual(parse(path).permissions, { contents: 'read' })
    const writing = jobsOf(path).filter(([, { permissions }]) => permissions !== undefined)
    assert.deepEqual(
      writing.map(([name]) => name),
      path.endsWith('release.yml') ? ['release'] : [],
    )
  }
})

test('the issue forms have titles, descriptions and unique ids', () => {
  const forms = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: root }).filter(
    (path) => !path.endsWith('config.yml'),
  )
  assert.equal(forms.length, 2)
  for (const path of forms) {
    const form: {
      readonly name: string
      readonly description: string
      readonly body: readonly { readonly id?: string; readonly attributes: { label?: string } }[]
    } = parseYaml(path)
    assert.ok(form.name && form.description, path)
    const ids = form.body.flatMap(({ id }) => id ?? [])
    assert.equal(new Set(ids).size, ids.length, path)
    assert.equal(
      form.body.filter(({ attributes }) => attributes.label !== undefined).length,
      ids.length,
    )
  }
})

test('the dev container and CI use the same version of Go, and the setup script is executable', () => {
  const container = JSON.parse(read('.devcontainer/devcontainer.json'))
  const { version } = container.features['ghcr.io/devcontainers/features/go:1']
  assert.ok(read('.github/workflows/ci.yml').includes(`go-version: "${version}"\n`))
  accessSync(join(root, container.postCreateCommand), constants.X_OK)
})

test('.editorconfig contains the settings of the formatter', () => {
  const { formatter } = JSON.parse(read('biome.json'))
  const settings = read('.editorconfig')
  const all = settings.slice(settings.indexOf('[*]'), settings.indexOf('[*.{'))
  for (const [name, value] of [
    ['indent_style', formatter.indentStyle],
    ['indent_size', formatter.indentWidth],
    ['max_line_length', formatter.lineWidth],
  ])
    assert.match(all, new RegExp(`^${name} = ${value}$`, 'm'))
})
