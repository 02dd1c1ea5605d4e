/**
 * lctl of an emulated node, with the messages, layout and exit codes of the node's release.
 *
 * Commands without use for a console (modules, LFSCK, snapshots ...) are refused by name.
 */
import { errnoNumber, errnoText } from '../../lustre/errno.ts'
import { done, exitWith, type ExecResult } from '../exec.ts'
import { formatDevices } from '../../lustre/devices.ts'
import { readParams } from './get-param.ts'
import { isLoaded, type LctlHost, isRoot } from './host.ts'
import { confParam, printParamsLog } from './permanent.ts'
import { writeParams } from './set-param.ts'

/** `lctl dl [-t]`: the devices of a node. Source: spec/lustre 6.9, measured A12, A14, B10. */
function deviceList(host: LctlHost, args: readonly string[]): ExecResult {
  const unknown = args.find((a) => a !== '-t' && a !== '--target')
  if (unknown !== undefined) return exitWith(1, `lctl device_list: ${unknown} is not known to this emulated node\n`)
  const devices = (host.devices?.() ?? []).map((d, index) => ({ ...d, index }))
  const table = formatDevices(devices, { peers: args.length > 0 })
  if (host.profile.lctl.hasNetlink) {
    if (isLoaded(host)) return done(table)
    return exitWith(errnoNumber('ENOENT'), 'Writer error: failed to resolve Netlink family id\n')
  }
  const hint = 'hint: the kernel modules may not be loaded\n'
  if (!isLoaded(host)) return exitWith(0, `opening /dev/obd failed: ${errnoText('ENOENT')}\n${hint}`)
  if (isRoot(host)) return done(table)
  const denied = errnoText('EACCES')
  return exitWith(
    errnoNumber('EACCES'),
    `opening /dev/obd failed: ${denied}\n${hint}Error getting device list: ${denied}: check dmesg\n`,
  )
}

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

/** Returns the first NID: an emulated node has one network, so all are equally near. */
const whichNid: Run = (_host, args) =>
  args.length > 0 ? done(`${args[0]}\n`) : exitWith(1, 'lctl which_nid: usage: which_nid NID [NID ...]\n')

/** `dk FILE`: an emulated node has neither a debug log nor a directory to write one to. */
const debugKernel: Run = (_host, args) =>
  args[0] === undefined
    ? exitWith(1, 'lctl dk: an emulated node keeps no debug log\n')
    : exitWith(1, `fopen(${args[0]}) failed: No such file or directory\n`)

/** `nodemap_add NAME` and `nodemap_del NAME`: nodemaps named in TBF rules; their members are not emulated. */
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

/** Commands of the real tool that emulated nodes lack; named, so that they are not mistaken for typing errors. */
const NOT_PLAYED =
  /^(?:(?:net|route|peer|conn|interface|pool|lqa|barrier|snapshot|nodemap|changelog|llog|lfsck|test)_|(?:activate|deactivate|abort_recovery|recover|apply_yaml|find_param|help_param|del_ost|debug_|df$|clear|mark|filter|show|modules|ping|network|attach|detach|setup|cleanup|push|mynid|fail|create|destroy|getattr|setattr))/

function unknown(host: LctlHost, name: string): ExecResult {
  if (NOT_PLAYED.test(name)) return exitWith(1, `lctl ${name}: is not played by this emulated node\n`)
  if (host.profile.lctl.isModernTool) {
    return exitWith(1, `lctl: '${name}' is not a valid command. See 'lctl --list-commands'.\n`)
  }
  // Prints the tool's whole list, reduced to the commands that an emulated node has.
  const known = Object.keys(COMMANDS).map((c) => `"${c}"\n`)
  return exitWith(1, '', `Try interactive use without arguments or use one of:\n${known.join('')}as argument.\n`)
}

/** Runs lctl with the given arguments on a node. */
export function runLctl(host: LctlHost, args: readonly string[]): ExecResult {
  const [name, ...rest] = args
  // Interactive mode reads commands from standard input, which is empty here.
  if (name === undefined) return done()
  if (name === '--device' && rest[0] === 'MGS' && rest[1] === 'llog_print' && rest[2] === 'params') {
    return printParamsLog(host)
  }
  if (Object.hasOwn(COMMANDS, name)) return (COMMANDS[name] as Run)(host, rest)
  if (host.profile.lctl.isModernTool && Object.hasOwn(MODERN, name)) return (MODERN[name] as Run)(host, rest)
  return unknown(host, name)
}
