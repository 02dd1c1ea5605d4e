/** One user's shell on a node: which programs are on the PATH, which files can be read and written. */
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
import { Shell, type WriteFile } from './shell/shell.ts'
import { TEXT_TOOLS } from './shell/text-tools.ts'

/** What a session finds on its node. */
export interface SessionNode {
  readonly hostname: string
  readonly lustre: LustreSide | undefined
  readonly programs: Readonly<Record<string, Program>>
}

export class UserSession {
  readonly shell: Shell
  readonly #user: NodeUser
  readonly #lctl: LctlHost | undefined
  readonly #programs: Readonly<Record<string, Program>>

  constructor({ hostname, lustre, programs }: SessionNode, user: NodeUser) {
    this.#user = user
    this.#lctl = lustre && { ...lustre, user, profile: profileOf(parseVersion(lustre.version)) }
    this.#programs = { ...this.#standardPrograms(hostname), ...programs }
    this.shell = new Shell({
      find: (name) => this.#find(name),
      glob: (pattern) => this.#files?.match(pattern, this.#isRoot).map((e) => e.path) ?? [],
      readFile: (path) => this.#read(path),
      openFile: (path) => this.#open(path),
    })
  }

  /** Runs a program as if its words had been typed, without a shell in between. */
  runWords([name = '', ...args]: readonly string[]): ExecResult {
    return this.#find(name)?.(args, '') ?? exitWith(127, '')
  }

  get #isRoot(): boolean {
    return this.#user.uid === 0
  }

  get #files(): ParameterFiles | undefined {
    return this.#lctl && isLoaded(this.#lctl) ? filesOf(this.#lctl.parameters()) : undefined
  }

  /** lctl is in /usr/sbin, which Debian puts on root's PATH only. */
  #find(name: string): Program | undefined {
    const host = this.#lctl
    if (host && (name === '/usr/sbin/lctl' || (name === 'lctl' && this.#isRoot))) return (args) => runLctl(host, args)
    return Object.hasOwn(this.#programs, name) ? this.#programs[name] : undefined
  }

  #standardPrograms(hostname: string): Record<string, Program> {
    const { name, uid } = this.#user
    const tools = Object.entries(TEXT_TOOLS).map(([tool, run]): [string, Program] => [
      tool,
      (args, stdin) => run(args, stdin, (path) => this.#read(path)),
    ])
    return {
      ...Object.fromEntries(tools),
      hostname: () => done(`${hostname}\n`),
      whoami: () => done(`${name}\n`),
      id: (args) => {
        if (args.length === 0) return done(`uid=${uid}(${name}) gid=${uid}(${name}) groups=${uid}(${name})\n`)
        if (args.length === 1 && args[0] === '-u') return done(`${uid}\n`)
        if (args.length === 1 && args[0] === '-un') return done(`${name}\n`)
        return exitWith(1, 'id: only -u and -un are known to this emulated shell\n')
      },
      true: () => done(),
      false: () => exitWith(1, ''),
      sh: (args) =>
        args[0] === '-c' && args.length === 2
          ? this.shell.run(args[1] as string, 'sh')
          : exitWith(2, 'sh: usage: sh -c COMMAND\n'),
      timeout: (args, stdin) => this.#timeout(args, stdin),
      sleep: () => exitWith(1, 'sleep: a command line takes no time on this emulated node\n'),
    }
  }

  /** A command takes no time, so it is never cut short. */
  #timeout([span = '', name, ...args]: readonly string[], stdin: ByteText): ExecResult {
    if (name === undefined || !/^\d+(?:\.\d+)?[smhd]?$/.test(span)) {
      return exitWith(125, 'timeout: usage: timeout DURATION COMMAND [ARG]...\n')
    }
    const program = this.#find(name)
    if (program) return program(args, stdin)
    return exitWith(127, `timeout: failed to run command '${name}': ${errnoText('ENOENT')}\n`)
  }

  #read(path: string): Result<ByteText, Errno> {
    if (isHidden(path, this.#isRoot)) return fail('EACCES')
    const entry = this.#files?.at(path)
    return entry ? readEntry(entry, this.#isRoot) : fail('ENOENT')
  }

  /** Files are parameters; nothing can be made among them, and nothing is kept anywhere else. */
  #open(path: string): Result<WriteFile, string> {
    if (!/^\/(?:proc|sys)\//.test(path)) return fail('an emulated node keeps no files')
    if (isHidden(path, this.#isRoot)) return fail(errnoText('EACCES'))
    const entry = this.#files?.at(path)
    if (!entry) return fail(errnoText('ENOENT'))
    const opened = openEntry(entry, this.#isRoot)
    return opened.ok ? ok(opened.value) : fail(errnoText(opened.error))
  }
}
