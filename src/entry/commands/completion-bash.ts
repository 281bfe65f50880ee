/**
 * Generates the completions for bash and zsh. Both scripts contain the same two functions: one
 * prints the flags of a command, and the other prints how to complete the value of a flag or an
 * argument.
 */
import type { CommandFlag } from '../../lib/process/command-flags.ts'
import type { DescribedCommand } from './describe-commands.ts'

const bashDriver = `_keelson() {
  local line=\${COMP_LINE:0:COMP_POINT} word words=() command='' flag='' position=0 stripped
  # Bash splits words at "=", so this splits the line itself.
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local last=$((\${#words[@]} - 1))
  local current=\${words[last]}
  _keelson_parse "\${words[@]:1:last-1}"
  COMPREPLY=()
  if [[ $current == --*=* && -z $flag ]]; then
    flag=\${current%%=*}
    word=\${current#*=}
  elif [[ $current == -* && -z $flag && $command != '' ]]; then
    COMPREPLY=($(compgen -W "$(_keelson_flags "$command")" -- "$current"))
    [[ \${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return
  else
    word=$current
    [[ -z $flag ]] && flag=$position
  fi
  local kind
  kind=$(_keelson_kind "$command $flag")
  case $kind in
    folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$word")) ;;
    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")) ;;
    command) COMPREPLY=($(compgen -c -- "$word")) ;;
    list\\ *)
      local before=''
      [[ $word == *,* ]] && before=\${word%,*},
      COMPREPLY=($(compgen -P "$before" -W "\${kind#list }" -- "\${word##*,}"))
      compopt -o nospace 2>/dev/null ;;
    *) COMPREPLY=($(compgen -W "$kind" -- "$word")) ;;
  esac
  # Bash replaces only the part after the last "=".
  stripped=\${word%"\${word##*=}"}
  COMPREPLY=("\${COMPREPLY[@]#"$stripped"}")
}
complete -F _keelson keelson
`

const zshDriver = `_keelson() {
  local command='' flag='' position=0 current=$words[CURRENT] kind
  _keelson_parse "\${(@)words[2,CURRENT-1]}"
  if [[ $current == --*=* && -z $flag ]]; then
    flag=\${current%%=*}
    compset -P 1 '*='
  elif [[ $current == -* && -z $flag && $command != '' ]]; then
    local -a flags=(\${=$(_keelson_flags "$command")})
    compadd -S '' -- \${(M)flags:#*=}
    compadd -- \${flags:#*=}
    return
  else
    [[ -z $flag ]] && flag=$position
  fi
  kind=$(_keelson_kind "$command $flag")
  case $kind in
    folder) _files -/ ;;
    file) _files ;;
    command) _command_names -e ;;
    list\\ *)
      compset -P '*,'
      compadd -S '' -- \${=kind#list } ;;
    *) compadd -- \${=kind} ;;
  esac
}
# As a file of fpath, this script is the body of the function on its first call.
if [[ $funcstack[1] == _keelson ]]; then _keelson "$@"; else compdef _keelson keelson; fi
`

/**
 * The shell function that parses the words before the cursor. It sets `command`, `flag` (if its
 * value follows), and `position`, the position of the next argument.
 */
const parser = `_keelson_parse() {
  local word
  for word; do
    if [[ -n $flag ]]; then flag=''
    elif [[ $command == run && $word == -- ]]; then command='run --'; position=0
    elif [[ $command == 'run --' ]]; then position=1
    elif [[ $word == -*=* ]]; then :
    elif [[ $word == -* ]]; then
      case " $(_keelson_flags "$command") " in *" $word= "*) flag=$word ;; esac
    elif [[ $position == 0 ]] && _keelson_is_command "\${command:+$command }$word"; then
      command=\${command:+$command }$word
    else position=$((position + 1)); fi
  done
}
`

export const completeBash = (commands: readonly DescribedCommand[]): string =>
  `# Completions of keelson for bash: source <(keelson completion bash)
${tables(commands)}
${parser}
${bashDriver}`

export const completeZsh = (commands: readonly DescribedCommand[]): string =>
  `#compdef keelson
# Completions of keelson for zsh, after compinit: source <(keelson completion zsh)
${tables(commands)}
${parser}
${zshDriver}`

function tables(commands: readonly DescribedCommand[]): string {
  const prefixes = new Set(commands.flatMap(({ name }) => prefixesOf(name)))
  const flags = commands.map(
    ({ name, flags: all }) =>
      `    ${quote(name)}) echo ${quote([...all].map(nameOf).join(' '))} ;;\n`,
  )
  const kinds = new Map<string, string[]>()
  const add = (key: string, kind: string): void => {
    if (kind !== '') kinds.set(kind, [...(kinds.get(kind) ?? []), quote(key)])
  }
  for (const { name, help, flags: all } of commands) {
    for (const [flag, spec] of all) add(`${name} --${flag}`, kindOf(spec))
    for (const [at, choices] of (help.arguments ?? []).entries())
      add(`${name} ${at}`, choices.join(' '))
  }
  for (const prefix of ['', ...prefixes]) add(`${prefix} 0`, nextWords(commands, prefix).join(' '))
  add('run -- 0', 'command')
  add('run -- 1', 'file')
  const rows = [...kinds].map(([kind, keys]) => `    ${keys.join(' | ')}) echo ${quote(kind)} ;;\n`)
  return `_keelson_is_command() {
  case $1 in ${[...prefixes].map(quote).join(' | ')}) return 0 ;; esac
  return 1
}

_keelson_flags() {
  case $1 in
${flags.join('')}  esac
}

_keelson_kind() {
  case $1 in
${rows.join('')}  esac
}
`
}

/**
 * Returns the names of the groups that contain a command, and the name of the command itself. For
 * `auth why`, the result is `auth` and `auth why`.
 */
function prefixesOf(name: string): string[] {
  const words = name.split(' ')
  return words.map((_, at) => words.slice(0, at + 1).join(' '))
}

/**
 * Returns the words that can follow `prefix`, the first words of a command's name. For example, the
 * word `export` can follow `store`.
 */
export function nextWords(commands: readonly DescribedCommand[], prefix: string): string[] {
  const before = prefix === '' ? '' : `${prefix} `
  const next = commands.flatMap(({ name }) =>
    name.startsWith(before) ? (name.slice(before.length).split(' ')[0] ?? []) : [],
  )
  return [...new Set(next)]
}

const nameOf = ([name, { type, isList = false }]: readonly [string, CommandFlag]): string =>
  `--${name}${type === 'string' || isList ? '=' : ''}`

function kindOf({ value, choices, isList = false }: CommandFlag): string {
  if (choices !== undefined) return `${isList ? 'list ' : ''}${choices.join(' ')}`
  return value === 'file' || value === 'folder' ? value : ''
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
