/** A user's shell session on a node: programs on the PATH, and readable and writable files. */
import { fail, ok, type Result } from '../base/result.ts'
import { errnoText, type Errno } from '../lustre/errno.ts'
import { profileOf } from '../lustre/profile.ts'
import type { ByteText } from '../lustre/text.ts'
import { parseVersion } from '../lustre/version.ts'
import { done, exitWith, type ExecResult, type Program } from './exec.ts'
import { openEntry, readEntry } from './file-access.ts'
import { isLoaded, type LctlHost, type LustreSide, type NodeUser } from './lctl/host.ts'
import { runLctl } from './lctl/run.ts'
import { filesOf, isHidden, type ParameterFiles } from './parameter-tree.ts'
import { COUNTER_PROGRAM } from './counter-program.ts'
import { RULE_HELPER, ruleHelper } from './rule-helper.ts'
import { Shell, type WriteFile } from './shell/shell.ts'
import { TEXT_TOOLS } from './shell/text-tools.ts'
import { sudo } from './sudo.ts'
import { systemTools, uptime, type NodeClock } from './system-tools.ts'

const LCTL = '/usr/sbin/lctl'
/** Builtins of the shell; some exist as programs too. */
const BUILTINS = 'cd command echo eval exit false kill printf test true'.split(' ')
const ALSO_PROGRAMS = 'echo false kill printf test true'.split(' ')
const NO_ARGUMENTS = 'sluice-read: it takes no arguments'
/** Number of processors on a node without Lustre, whose count is not known. */
const PROCESSORS = 8

/** Interface of a node to its sessions. */
export interface SessionNode {
  readonly hostname: string
  readonly clock: NodeClock
  readonly lustre: LustreSide | undefined
  readonly programs: Readonly<Record<string, Program>>
  readonly runAsRoot: (argv: readonly string[]) => ExecResult
  /** True if systemd has a unit file of that path. */
  readonly hasUnitFile: (path: string) => boolean
  /** True if a pending timer's name has the prefix. */
  readonly hasTimer: (prefix: string) => boolean
}

export class UserSession {
  readonly shell: Shell
  readonly #user: NodeUser
  readonly #node: SessionNode
  readonly #lctl: LctlHost | undefined
  readonly #programs: Readonly<Record<string, Program>>

  constructor(node: SessionNode, user: NodeUser) {
    const { lustre } = node
    this.#user = user
    this.#node = node
    this.#lctl = lustre && { ...lustre, user, profile: profileOf(parseVersion(lustre.version)) }
    this.#programs = { ...this.#standardPrograms(), ...node.programs }
    this.shell = new Shell({
      find: (name) => this.#find(name),
      glob: (pattern) => this.#files?.match(pattern, this.#isRoot).map((e) => e.path) ?? [],
      readFile: (path) => this.#read(path),
      openFile: (path) => this.#open(path),
    })
  }

  /** Runs a program from an argument list, without a shell in between. */
  runWords([name = '', ...args]: readonly string[]): ExecResult {
    return this.#find(name)?.(args, '') ?? exitWith(127, '')
  }

  get #isRoot(): boolean {
    return this.#user.uid === 0
  }

  get #files(): ParameterFiles | undefined {
    return this.#lctl && isLoaded(this.#lctl) ? filesOf(this.#lctl.parameters()) : undefined
  }

  /** Path of a program on the user's PATH, or of one given by its path; undefined if it does not exist. */
  pathOf(name: string): string | undefined {
    // lctl is in /usr/sbin, which is on root's PATH only (Debian).
    if (name === LCTL || (name === 'lctl' && this.#isRoot)) return this.#lctl && LCTL
    if (name === RULE_HELPER || (name === 'sluice-rule' && this.#isRoot)) return this.#lctl && RULE_HELPER
    if (name === COUNTER_PROGRAM) return this.#lctl && COUNTER_PROGRAM
    const bare = name.replace(/^\/usr\/bin\//, '')
    const isProgram = Object.hasOwn(this.#programs, bare) && (!BUILTINS.includes(bare) || ALSO_PROGRAMS.includes(bare))
    return isProgram ? `/usr/bin/${bare}` : undefined
  }

  #find(name: string): Program | undefined {
    const path = this.pathOf(name)
    const host = this.#lctl
    if (path === LCTL) return host && ((args) => runLctl(host, args))
    if (path === RULE_HELPER) return host && this.#ruleHelper(host)
    // It ends with its input; a shell that reads its commands from its input runs it.
    if (path === COUNTER_PROGRAM) return (args) => (args.length === 0 ? done() : exitWith(2, `${NO_ARGUMENTS}\n`))
    if (path !== undefined) return this.#programs[path.slice('/usr/bin/'.length)]
    return BUILTINS.includes(name) ? this.#programs[name] : undefined
  }

  /** sluice-rule; it runs lctl and systemd tools with the rights of its user. */
  #ruleHelper(host: LctlHost): Program {
    const { 'systemd-run': systemdRun, systemctl } = this.#programs
    return ruleHelper({
      setParams: (assignments) => runLctl(host, ['set_param', ...assignments]),
      hasTimer: (prefix) => this.#node.hasTimer(prefix),
      systemdRun: (args) => systemdRun?.(args, '') ?? exitWith(127, ''),
      systemctl: (args) => systemctl?.(args, '') ?? exitWith(127, ''),
      uptime: () => uptime(this.#node.clock, this.#processors),
    })
  }

  #standardPrograms(): Record<string, Program> {
    const { hostname, clock, runAsRoot } = this.#node
    const tools = Object.entries(TEXT_TOOLS).map(([tool, run]): [string, Program] => [
      tool,
      (args, stdin) => run(args, stdin, (path) => this.#read(path)),
    ])
    return {
      ...Object.fromEntries(tools),
      ...systemTools({ hostname, clock, processors: () => this.#processors }, this.#user),
      command: (args, stdin) => this.#command(args, stdin),
      test: (args) => this.#test(args),
      sudo: (args) => sudo(args, this.#user, { hostname, runAsRoot, pathOf: (name) => this.#rootsPath(name) }),
      sh: (args) =>
        args[0] === '-c' && args.length === 2
          ? this.shell.run(args[1] as string, 'sh')
          : exitWith(2, 'sh: usage: sh -c COMMAND\n'),
      timeout: (args, stdin) => this.#timeout(args, stdin),
    }
  }

  /** sudo uses root's PATH. */
  #rootsPath(name: string): string | undefined {
    return this.pathOf(name === 'lctl' ? LCTL : name === 'sluice-rule' ? RULE_HELPER : name)
  }

  /** Number of CPUs over all CPU partitions. */
  get #processors(): number {
    const host = this.#lctl
    const table = host ? runLctl(host, ['get_param', '-n', 'cpu_partition_table']).stdout : ''
    return table.replace(/^\d+\s*:/gm, '').match(/\d+/g)?.length ?? PROCESSORS
  }

  /** `command -v NAME` and `command NAME ...`. */
  #command([first, ...rest]: readonly string[], stdin: ByteText): ExecResult {
    if (first === undefined) return done()
    if (first !== '-v') {
      return this.#find(first)?.(rest, stdin) ?? exitWith(127, `bash: line 1: ${first}: command not found\n`)
    }
    const [name = ''] = rest
    if (BUILTINS.includes(name)) return done(`${name}\n`)
    const path = this.pathOf(name)
    return path === undefined ? exitWith(1, '') : done(`${path}\n`)
  }

  /** `test -e FILE`. */
  #test([operator, path = '', ...rest]: readonly string[]): ExecResult {
    if (operator !== '-e' || rest.length > 0) return exitWith(2, 'test: only -e FILE is known to this emulated shell\n')
    const isThere = this.#node.hasUnitFile(path) || this.#read(path).ok || this.#files?.at(path) !== undefined
    return exitWith(isThere ? 0 : 1, '')
  }

  /** `timeout`: commands take no time, so it never interrupts one. */
  #timeout([span = '', name, ...args]: readonly string[], stdin: ByteText): ExecResult {
    if (name === undefined || !/^\d+(?:\.\d+)?[smhd]?$/.test(span)) {
      return exitWith(125, 'timeout: usage: timeout DURATION COMMAND [ARG]...\n')
    }
    const program = this.#find(name)
    if (program) return program(args, stdin)
    return exitWith(127, `timeout: failed to run command '${name}': ${errnoText('ENOENT')}\n`)
  }

  #read(path: string): Result<ByteText, Errno> {
    if (path === '/proc/uptime') return ok(uptime(this.#node.clock, this.#processors))
    if (isHidden(path, this.#isRoot)) return fail('EACCES')
    const entry = this.#files?.at(path)
    return entry ? readEntry(entry, this.#isRoot) : fail('ENOENT')
  }

  /** Opens a parameter for writing; no other files can be created or written. */
  #open(path: string): Result<WriteFile, string> {
    if (!/^\/(?:proc|sys)\//.test(path)) return fail('an emulated node keeps no files')
    if (isHidden(path, this.#isRoot)) return fail(errnoText('EACCES'))
    const entry = this.#files?.at(path)
    if (!entry) return fail(errnoText('ENOENT'))
    const opened = openEntry(entry, this.#isRoot)
    return opened.ok ? ok(opened.value) : fail(errnoText(opened.error))
  }
}
