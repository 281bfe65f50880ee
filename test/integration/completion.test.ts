/** Tests the completions of `keelson completion` in the real shells. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { keelsonProgram } from '../support/harness/keelson.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-completion-'))
after(() => rmSync(folder, { recursive: true, force: true }))
before(() => {
  mkdirSync(join(folder, 'data-of-shop'))
  writeFileSync(join(folder, 'data.yaml'), '')
})

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

const cases: readonly (readonly [line: string, expected: readonly string[]])[] = [
  ['keelson stat', ['status']],
  ['keelson au', ['auth']],
  ['keelson auth ', ['why']],
  ['keelson help auth ', ['why']],
  ['keelson completion ', ['bash', 'fish', 'zsh']],
  ['keelson store ', ['export', 'import', 'rewrite']],
  ['keelson stop --', ['--all', '--data-dir', '--help']],
  ['keelson auth why --as-g', ['--as-group']],
  ['keelson auth why --as alice get pods --as-g', ['--as-group']],
  ['keelson serve --logging-format=', ['json', 'text']],
  ['keelson serve --store s', ['sqlite']],
  ['keelson dev --reset --logging-format=t', ['text']],
  ['keelson dev --controllers=ttl', ['ttl-after-finished-controller']],
  ['keelson run --controllers=namespace-controller,ttl', ['ttl-after-finished-controller']],
  ['keelson serve --enable-admission-plugins=PodNo', ['PodNodeSelector']],
  ['keelson dev --data-dir=da', ['data-of-shop']],
  ['keelson serve --audit-policy-file=data.', ['data.yaml']],
  ['keelson store export --file data.', ['data.yaml']],
  ['keelson run -- ca', ['cat']],
]

/** Returns the reason why a test is skipped, or false. */
const reasonToSkip = (shell: Shell): string | false =>
  spawnSync(shell, ['-c', 'true']).error !== undefined && `${shell} is not installed`

for (const shell of shells) {
  test(`keelson completion works in ${shell}`, { skip: reasonToSkip(shell) }, (t) => {
    const script = join(folder, `keelson.${shell}`)
    writeFileSync(script, execFileSync(keelsonProgram, ['completion', shell]))
    for (const [line, expected] of cases) {
      const found = complete(shell, script, line)
      t.diagnostic(`${line}: ${found.length}`)
      // Ignore additional completions, because the shell also completes other commands of this
      // machine with the same prefix.
      if (line.includes(' -- '))
        assert.ok(
          expected.every((one) => found.includes(one)),
          line,
        )
      else assert.deepEqual(found, expected, line)
    }
  })
}

test('zsh autoloads the completion script from a folder in fpath', {
  skip: reasonToSkip('zsh'),
}, () => {
  const functions = join(folder, 'functions')
  mkdirSync(functions)
  writeFileSync(join(functions, '_keelson'), execFileSync(keelsonProgram, ['completion', 'zsh']))
  const load = join(folder, 'load.zsh')
  writeFileSync(load, `fpath=(${functions} $fpath); compinit -u -D\n`)
  assert.deepEqual(complete('zsh', load, 'keelson stat'), ['status'])
})

/**
 * Returns the completions in alphabetical order, each without the text that precedes its last part.
 * For example, only the value of a flag is returned.
 */
function complete(shell: Shell, script: string, line: string): readonly string[] {
  const options = { cwd: folder, encoding: 'utf8' } as const
  const out = execFileSync(shell, argumentsOf(shell, script, line), options)
  const words = out.split(/[\r\n]+/).map((text) => text.split('\t')[0]?.trim() ?? '')
  const parts = words.map((word) => word.replace(/=$/, '').replace(/^.*[=,]|\/$/g, ''))
  return [...new Set(parts.filter((part) => part !== ''))].toSorted()
}

function argumentsOf(shell: Shell, script: string, line: string): readonly string[] {
  if (shell === 'fish')
    return ['--no-config', '-c', `source ${script}; complete -C ${JSON.stringify(line)}`]
  if (shell === 'bash') {
    const words = `COMP_LINE='${line}' COMP_POINT=\${#COMP_LINE}`
    return [
      '--norc',
      '-c',
      `source ${script}; ${words}; _keelson; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ]
  }
  return ['-f', '-c', zshProgram, 'zsh', script, line]
}

/**
 * A program that runs zsh's line editor in a pseudo-terminal, because zsh completes only there. The
 * program writes the completions to a file instead of showing them.
 */
const zshProgram = `
export COLLECTED=$1.found
rm -f $COLLECTED
zmodload zsh/zpty zsh/zselect
zpty editor zsh -f -i
zpty -w editor "unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; source $1"
zpty -w editor 'compadd() {
  local -a found
  if [[ \${@[1,(i)(-|--)]} != *-[OAD]* ]]; then
    builtin compadd -O found "$@"
    print -rl -- $found >>$COLLECTED
  fi
  builtin compadd "$@"
}'
zpty -w editor 'ended() { print END >>$COLLECTED; exit }; comppostfuncs=(ended); print READY'
zpty -r -m editor output '*READY*READY*'
zpty -w -n editor "$2"$'\t'
repeat 600; do
  grep -qx END $COLLECTED 2>/dev/null && break
  zselect -t 10
done
grep -vx END $COLLECTED
zpty -d editor
`
