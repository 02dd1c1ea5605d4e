/**
 * Finds out what a server is, once, after the login: an ordered checklist of commands that read and change nothing.
 *
 * sudo, lctl, role, policy, jobs, timer, clock: each line is on the list before it is sent, with the text that is sent. A server whose
 * numbers would be wrong is not read: without root's rights recent releases print statistics that are cut short (measured A12).
 */
import type { CheckStep, ServerRole } from '#core/api/clusters.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { literalOf, RemoteCommandError, type Access } from '../remote-command.ts'
import { SshError } from '../../ssh/failures.ts'
import { Checklist, saidBy, type Exec } from './checklist.ts'
import type { DiscoveryFailure, NodeFacts } from './facts.ts'
import { findClock, findTimers } from './find-host.ts'
import { findScope, parseLogin, shellFault, type Login } from './find-login.ts'
import {
  findJobs,
  findPolicies,
  findRoles,
  isLctlGone,
  isSudoRefusal,
  lctlPath,
  readVersion,
  type Ask,
  type Ended,
  type VersionFound,
} from './find-lustre.ts'
import { sudoersToRead } from './readings.ts'
import { LCTL_PATH, noScope, type SudoScope } from './sudo-scope.ts'

export type { Exec } from './checklist.ts'

const NOBODY: Access = { isRoot: false, sudo: noScope('not asked yet'), lctl: LCTL_PATH }

type Found = Result<NodeFacts, DiscoveryFailure>

class Discovery {
  readonly #host: string
  readonly #list: Checklist
  readonly #nowMs: () => number
  #access = NOBODY
  #facts: NodeFacts | undefined

  constructor(exec: Exec, host: string, onStep: (steps: readonly CheckStep[]) => void, nowMs: () => number) {
    this.#host = host
    this.#list = new Checklist(exec, onStep)
    this.#nowMs = nowMs
  }

  get facts(): NodeFacts | undefined {
    return this.#facts && { ...this.#facts, roundTripMs: this.#list.shortestMs }
  }

  readonly #ask: Ask = (id, line) => {
    const literal = literalOf(line, this.#access)
    if (!literal.ok) throw new RemoteCommandError(literal.error)
    return this.#list.ask(id, literal.value)
  }

  #end(id: Parameters<Ask>[0], { state, detail, fix }: Ended): void {
    this.#list.end(id, state, detail, fix)
  }

  #refuse(code: string, what: string, why: string, next: string): Result<never, DiscoveryFailure> {
    this.#list.skip('not reached')
    const unaffected = 'Nothing is read from it; other servers are.'
    return fail({ code, what: `${this.#host}: ${what}`, why, unaffected, next, facts: this.facts })
  }

  #note(more: Partial<NodeFacts>): void {
    if (this.#facts) this.#facts = { ...this.#facts, ...more }
  }

  async run(): Promise<Found> {
    const who = await this.#ask('sudo', 'id -u; id -un; hostname')
    const login = parseLogin(who.stdout)
    if (!login) {
      const { why, next } = shellFault(who)
      this.#list.end('sudo', 'bad', why, next)
      return this.#refuse('REMOTE_SHELL', 'the login runs no commands', why, next)
    }
    const scope = await findScope(this.#list, login)
    this.#begin(login, scope)
    if (scope.kind === 'none') return this.#withoutRoot(login, scope)
    this.#list.end('sudo', scope.watch === '' ? 'ok' : 'watch', `${login.user}: ${scope.text}`, scope.watch)
    const path = await this.#findLctl(scope)
    if (path === undefined) return this.#withoutLctl()
    return this.#lustre(path, scope)
  }

  #begin({ user, hostname, uid }: Login, sudo: SudoScope): void {
    const lctl = sudo.lctl
    this.#access = { isRoot: uid === 0, sudo, lctl }
    this.#facts = {
      ...{ host: this.#host, hostname, user, isRoot: uid === 0, sudo, lctl, version: undefined, versionText: '' },
      ...{ roles: [], targets: [], expected: [], services: [], cpts: undefined, jobid: undefined },
      ...{ timers: 'none', clockSkewMs: undefined, roundTripMs: 0 },
    }
  }

  /** lctl by its path, or by its name where root finds it. */
  async #findLctl(scope: SudoScope): Promise<string | undefined> {
    if (scope.grants.some((g) => !g.isDenied && g.program === scope.lctl)) return scope.lctl
    const found = lctlPath((await this.#ask('lctl', 'command -v lctl')).stdout)
    if (found !== undefined) return this.#access.isRoot ? 'lctl' : found
    // csh has no `command`, and Debian has /usr/sbin on root's PATH only.
    for (const lctl of this.#access.isRoot ? ['lctl', LCTL_PATH] : [LCTL_PATH]) {
      this.#access = { ...this.#access, lctl }
      const tried = await this.#ask('lctl', 'lctl --version')
      const isGone = tried.code === 126 || tried.code === 127 || /not found|no such file/i.test(tried.stderr)
      if (!isGone) return lctl
    }
    return undefined
  }

  /** A scheduler, and the machine of PADLL's controller, have neither Lustre nor a need of root. */
  async #others(): Promise<boolean> {
    const r = await this.#ask('role', 'command -v squeue; command -v qstat; command -v sluice')
    const programs = r.stdout.match(/^\/\S{1,200}\/(?:squeue|qstat|sluice)$/gm) ?? []
    const isController = programs.some((p) => p.endsWith('/sluice'))
    const isScheduler = programs.some((p) => !p.endsWith('/sluice'))
    const roles: readonly ServerRole[] = [
      ...(isScheduler ? (['scheduler'] as const) : []),
      ...(isController ? (['controller'] as const) : []),
    ]
    if (roles.length === 0) return false
    this.#list.end('role', 'ok', `${roles.join(' + ')}: ${programs.join(', ')}`)
    this.#note({ roles })
    return true
  }

  async #finishOther(): Promise<Found> {
    for (const id of ['lctl', 'policy', 'jobs', 'timer'] as const) this.#list.end(id, 'skipped', 'no Lustre server')
    await this.#clock()
    return ok(this.facts as NodeFacts)
  }

  async #withoutRoot(login: Login, scope: SudoScope): Promise<Found> {
    const path = await this.#findLctl(scope)
    if (path === undefined && (await this.#others())) {
      this.#list.end('sudo', 'ok', `${login.user}: ${scope.text}; it needs none`)
      return this.#finishOther()
    }
    const fix = sudoersToRead(login.user, path === undefined || path === 'lctl' ? LCTL_PATH : path)
    const why = `${scope.text}; numbers that lctl prints without root are wrong on recent releases`
    this.#list.end('sudo', 'bad', `${login.user}: ${why}`, fix)
    this.#list.end('lctl', path === undefined ? 'bad' : 'skipped', path ?? 'there is no lctl')
    const next =
      'Have its administrator put the lines of the checklist into /etc/sudoers.d/sluice (visudo -c checks them).'
    return this.#refuse('SUDO_NEEDED', `${login.user} may not read as root`, why, next)
  }

  async #withoutLctl(): Promise<Found> {
    if (await this.#others()) return this.#finishOther()
    this.#list.end('role', 'bad', 'neither a Lustre server nor a scheduler nor a controller')
    return this.#noLctl()
  }

  #noLctl(): Result<never, DiscoveryFailure> {
    const next = 'Install the Lustre server packages, or leave it out of the cluster.'
    this.#list.end('lctl', 'bad', 'there is no lctl on it', next)
    return this.#refuse('NO_LCTL', 'there is no lctl on it', 'it is no Lustre server, nor a scheduler', next)
  }

  async #lustre(lctl: string, scope: SudoScope): Promise<Found> {
    const sudo = { ...scope, lctl: lctl === 'lctl' ? scope.lctl : lctl }
    this.#access = { ...this.#access, sudo, lctl }
    this.#note({ sudo, lctl })
    const version = await this.#version(lctl)
    if (!version.ok) return version
    this.#note(version.value)
    const { end: roleEnd, ...role } = await findRoles(this.#ask)
    this.#note(role)
    this.#end('role', this.#withSudoers(roleEnd))
    const { end: policyEnd, ...policy } = await findPolicies(this.#ask, role.roles)
    this.#note(policy)
    this.#end('policy', this.#withSudoers(policyEnd))
    const { end: jobsEnd, ...jobs } = await findJobs(this.#ask, role.roles)
    this.#note(jobs)
    this.#end('jobs', this.#withSudoers(jobsEnd))
    const { end: timerEnd, timers } = await findTimers(this.#ask, sudo)
    this.#note({ timers })
    this.#end('timer', timerEnd)
    await this.#clock()
    return ok(this.facts as NodeFacts)
  }

  /** What a narrow sudoers may lack is shown where something could not be read. */
  #withSudoers(end: Ended): Ended {
    const { sudo, user } = this.#facts as NodeFacts
    const isNarrow = sudo.kind === 'read' || sudo.kind === 'write'
    return isNarrow && end.state === 'bad' && !end.fix ? { ...end, fix: sudoersToRead(user, sudo.lctl) } : end
  }

  async #version(lctl: string): Promise<Result<VersionFound, DiscoveryFailure>> {
    const read = await this.#ask('lctl', 'lctl get_param -n version')
    const found = readVersion(read.stdout)
    if (found.version) {
      this.#list.end('lctl', 'ok', `${lctl}: Lustre ${found.versionText}`)
      return ok(found)
    }
    if (isLctlGone(read)) return this.#noLctl()
    if (isSudoRefusal(read)) {
      const why = saidBy(read)
      const next = sudoersToRead(this.#facts?.user ?? '', this.#access.sudo.lctl)
      this.#list.end('lctl', 'bad', `sudo does not let the version be read: ${why}`, next)
      return this.#refuse(
        'SUDO_NEEDED',
        'sudo does not let lctl read',
        why,
        'Add the lines of the checklist to sudoers.',
      )
    }
    if (read.code === 0 && found.versionText !== '') {
      const detail = `${lctl}: version ${found.versionText} is not understood: it is read as the newest, and never written to`
      this.#list.end('lctl', 'watch', detail)
      return ok(found)
    }
    const tool = readVersion((await this.#ask('lctl', 'lctl --version')).stdout.replace(/^lctl /m, ''))
    this.#note({ versionText: tool.versionText })
    const next = 'Load Lustre on it (modprobe lustre) or mount its targets; it is tried again by itself.'
    const why = `lctl ${tool.versionText} is there, the modules are not loaded: ${saidBy(read)}`
    this.#list.end('lctl', 'bad', why, next)
    return this.#refuse('LUSTRE_NOT_LOADED', 'Lustre is not loaded', why, next)
  }

  async #clock(): Promise<void> {
    const { end, clockSkewMs } = await findClock(this.#ask, this.#nowMs)
    this.#note({ clockSkewMs })
    this.#end('clock', end)
  }
}

/**
 * Runs the checklist.
 *
 * @param exec    the server's shell, ungated: what it is sent is on the closed list all the same.
 * @param onStep  is given the whole list at every change.
 * @returns       what was found; why the server is not read, with what was found until then. A command without an end in time is
 *                such a failure, too.
 * @throws        what `exec` rejects with, when the connection is lost on the way.
 */
export async function discover(
  exec: Exec,
  host: string,
  onStep: (steps: readonly CheckStep[]) => void = () => undefined,
  nowMs: () => number = Date.now,
): Promise<Result<NodeFacts, DiscoveryFailure>> {
  const discovery = new Discovery(exec, host, onStep, nowMs)
  try {
    return await discovery.run()
  } catch (e) {
    if (!(e instanceof SshError) || !/^SSH_(?:COMMAND_TIMEOUT|OUTPUT)$/.test(e.failure.code)) throw e
    return fail({ ...e.failure, what: `${host}: ${e.failure.what}`, facts: discovery.facts })
  }
}
