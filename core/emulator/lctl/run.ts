/**
 * The tool lctl of an emulated node, in the words, layout and exit codes of the node's release.
 *
 * Commands that change nothing a console is for (modules, LFSCK, snapshots ...) are refused by name.
 */
import { errnoNumber, errnoText } from '../../lustre/errno.ts'
import { done, exitWith, type ExecResult } from '../exec.ts'
import { deviceList } from './devices.ts'
import { readParams } from './get-param.ts'
import { isLoaded, type LctlHost } from './host.ts'
import { confParam, printParamsLog } from './permanent.ts'
import { writeParams } from './set-param.ts'

type Run = (host: LctlHost, args: readonly string[]) => ExecResult

const version: Run = (host) => done(`lctl ${host.version}\n`)

const help: Run = (host, args) => {
  if (args.length > 0) return exitWith(1, `lctl help: ${args[0]} is not explained by this emulated node\n`)
  const more = host.profile.lctl.isModernTool
    ? "Try 'lctl help <COMMAND>', or 'lctl --list-commands' for a list of commands."
    : "Try 'lctl help <COMMAND>' or 'lctl --list-commands' for more information"
  return done(
    `usage: lctl [COMMAND] [OPTIONS]... [ARGS]\nWithout any parameters, interactive mode is invoked\n${more}\n`,
  )
}

const listNids: Run = (host) => {
  if (!isLoaded(host)) return exitWith(1, 'lctl list_nids: LNet is not loaded on this emulated node\n')
  return done((host.nids ?? []).map((n) => `${n}\n`).join(''))
}

/** The first NID given is as near as any: an emulated node has one network. */
const whichNid: Run = (_host, args) =>
  args.length > 0 ? done(`${args[0]}\n`) : exitWith(1, 'lctl which_nid: usage: which_nid NID [NID ...]\n')

/** `dk FILE`: an emulated node keeps no debug log and has no directories to write one to. */
const debugKernel: Run = (_host, args) =>
  args[0] === undefined
    ? exitWith(1, 'lctl dk: an emulated node keeps no debug log\n')
    : exitWith(1, `fopen(${args[0]}) failed: No such file or directory\n`)

/** `nodemap_add NAME` and `nodemap_del NAME`: groups that rules of TBF name; what they hold is not played. */
const nodemap =
  (verb: 'add' | 'del'): Run =>
  (host, args) => {
    const name = args[0] ?? ''
    const command = `nodemap_${verb}`
    if (!isLoaded(host) || !host.nodemaps || args.length !== 1 || !/^\w{1,15}$/.test(name)) {
      return exitWith(1, `lctl ${command}: usage: ${command} NAME, where there is Lustre\n`)
    }
    const isThere = host.nodemaps.names.includes(name)
    if (isThere === (verb === 'add')) {
      const why = verb === 'add' ? 'EEXIST' : 'ENOENT'
      return exitWith(errnoNumber(why), `error: ${command}: cannot ${verb} nodemap '${name}': ${errnoText(why)}\n`)
    }
    if (verb === 'add') host.nodemaps.add(name)
    else host.nodemaps.remove(name)
    return done()
  }

const COMMANDS: Readonly<Record<string, Run>> = {
  get_param: (host, args) => readParams(host, 'get_param', args),
  list_param: (host, args) => readParams(host, 'list_param', args),
  set_param: writeParams,
  conf_param: confParam,
  dl: deviceList,
  device_list: deviceList,
  list_nids: listNids,
  which_nid: whichNid,
  dk: debugKernel,
  debug_kernel: debugKernel,
  nodemap_add: nodemap('add'),
  nodemap_del: nodemap('del'),
  '--version': version,
  help,
  '--list-commands': () => done(`${Object.keys(COMMANDS).join('\n')}\n`),
}

const MODERN: Readonly<Record<string, Run>> = { version, '--help': help }

/** What real tools know and emulated nodes do not: named, so that it is not taken for a typing error. */
const NOT_PLAYED =
  /^(?:(?:net|route|peer|conn|interface|pool|lqa|barrier|snapshot|nodemap|changelog|llog|lfsck|test)_|(?:activate|deactivate|abort_recovery|recover|apply_yaml|find_param|help_param|del_ost|debug_|df$|clear|mark|filter|show|modules|ping|network|attach|detach|setup|cleanup|push|mynid|fail|create|destroy|getattr|setattr))/

function unknown(host: LctlHost, name: string): ExecResult {
  if (NOT_PLAYED.test(name)) return exitWith(1, `lctl ${name}: is not played by this emulated node\n`)
  if (host.profile.lctl.isModernTool) {
    return exitWith(1, `lctl: '${name}' is not a valid command. See 'lctl --list-commands'.\n`)
  }
  // The whole list of the tool, of which an emulated node knows these.
  const known = Object.keys(COMMANDS).map((c) => `"${c}"\n`)
  return exitWith(1, '', `Try interactive use without arguments or use one of:\n${known.join('')}as argument.\n`)
}

/** Runs lctl with the given arguments on a node. */
export function runLctl(host: LctlHost, args: readonly string[]): ExecResult {
  const [name, ...rest] = args
  // Interactive use reads commands from standard input, where there are none.
  if (name === undefined) return done()
  if (name === '--device' && rest[0] === 'MGS' && rest[1] === 'llog_print' && rest[2] === 'params') {
    return printParamsLog(host)
  }
  if (Object.hasOwn(COMMANDS, name)) return (COMMANDS[name] as Run)(host, rest)
  if (host.profile.lctl.isModernTool && Object.hasOwn(MODERN, name)) return (MODERN[name] as Run)(host, rest)
  return unknown(host, name)
}
