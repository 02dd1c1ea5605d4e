/**
 * Finds out what a server is, once, after the login: an ordered checklist of commands that read and change nothing.
 *
 * sudo, lctl, role, policy, jobs, timer, clock: each line is on the list before it is sent, with the text that is sent. A server whose
 * numbers would be wrong is not read: without root's rights recent releases print statistics that are cut short (measured A12).
 */
import type { CheckStep, ServerRole } from '#core/api/clusters.ts'
import { fail, formatReason, ok, type Failure, type Result } from '#core/base/result.ts'
import { literalOf, type Access } from '../remote/command.ts'
import { Checklist, saidBy, type Exec } from './checklist.ts'
import type { DiscoveryFailure, NodeFacts } from '../remote/facts.ts'
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
import { LCTL_PATH, noScope, type SudoScope } from '../remote/sudo-scope.ts'

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

  /** Sends a line as it is written. */
  readonly #send: Ask = async (id, literal) => {
    const ran = await this.#list.ask(id, literal)
    return ran.ok ? ran : this.#unanswered(ran.error)
  }

  /** Sends what a line becomes on the server. */
  readonly #ask: Ask = async (id, line) => {
    const literal = literalOf(line, this.#access)
    if (literal.ok) return this.#send(id, literal.value)
    this.#list.end(id, 'bad', formatReason(literal.error))
    this.#list.skip('not reached')
    return this.#unanswered(literal.error)
  }

  #unanswered(failure: Failure): Result<never, DiscoveryFailure> {
    return fail({ ...failure, what: `${this.#host}: ${failure.what}`, facts: this.facts })
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
    if (!who.ok) return who
    const login = parseLogin(who.value.stdout)
    if (!login) {
      const { why, next } = shellFault(who.value)
      this.#list.end('sudo', 'bad', why, next)
      return this.#refuse('REMOTE_SHELL', 'the login runs no commands', why, next)
    }
    const given = await findScope(this.#send, login)
    if (!given.ok) return given
    const scope = given.value
    this.#begin(login, scope)
    if (scope.kind === 'none') return this.#withoutRoot(login, scope)
    this.#list.end('sudo', scope.watch === '' ? 'ok' : 'watch', `${login.user}: ${scope.text}`, scope.watch)
    const path = await this.#findLctl(scope)
    if (!path.ok) return path
    return path.value === undefined ? this.#withoutLctl() : this.#lustre(path.value, scope)
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
  async #findLctl(scope: SudoScope): Promise<Result<string | undefined, DiscoveryFailure>> {
    if (scope.grants.some((g) => !g.isDenied && g.program === scope.lctl)) return ok(scope.lctl)
    const looked = await this.#ask('lctl', 'command -v lctl')
    if (!looked.ok) return looked
    const found = lctlPath(looked.value.stdout)
    if (found !== undefined) return ok(this.#access.isRoot ? 'lctl' : found)
    // csh has no `command`, and Debian has /usr/sbin on root's PATH only.
    for (const lctl of this.#access.isRoot ? ['lctl', LCTL_PATH] : [LCTL_PATH]) {
      this.#access = { ...this.#access, lctl }
      const tried = await this.#ask('lctl', 'lctl --version')
      if (!tried.ok) return tried
      const { code, stderr } = tried.value
      const isGone = code === 126 || code === 127 || /not found|no such file/i.test(stderr)
      if (!isGone) return ok(lctl)
    }
    return ok(undefined)
  }

  /** A scheduler, and the machine of PADLL's controller, have neither Lustre nor a need of root. @returns whether it is one. */
  async #others(): Promise<Result<boolean, DiscoveryFailure>> {
    const looked = await this.#ask('role', 'command -v squeue; command -v qstat; command -v sluice')
    if (!looked.ok) return looked
    const programs = looked.value.stdout.match(/^\/\S{1,200}\/(?:squeue|qstat|sluice)$/gm) ?? []
    const isController = programs.some((p) => p.endsWith('/sluice'))
    const isScheduler = programs.some((p) => !p.endsWith('/sluice'))
    const roles: readonly ServerRole[] = [
      ...(isScheduler ? (['scheduler'] as const) : []),
      ...(isController ? (['controller'] as const) : []),
    ]
    if (roles.length === 0) return ok(false)
    this.#list.end('role', 'ok', `${roles.join(' + ')}: ${programs.join(', ')}`)
    this.#note({ roles })
    return ok(true)
  }

  async #finishOther(): Promise<Found> {
    for (const id of ['lctl', 'policy', 'jobs', 'timer'] as const) this.#list.end(id, 'skipped', 'no Lustre server')
    return this.#clock()
  }

  async #withoutRoot(login: Login, scope: SudoScope): Promise<Found> {
    const found = await this.#findLctl(scope)
    if (!found.ok) return found
    const path = found.value
    const isOther = path === undefined ? await this.#others() : ok(false)
    if (!isOther.ok) return isOther
    if (isOther.value) {
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
    const isOther = await this.#others()
    if (!isOther.ok) return isOther
    if (isOther.value) return this.#finishOther()
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
    const roles = await findRoles(this.#ask)
    if (!roles.ok) return roles
    const { end: roleEnd, ...role } = roles.value
    this.#note(role)
    this.#end('role', this.#withSudoers(roleEnd))
    const policies = await findPolicies(this.#ask, role.roles)
    if (!policies.ok) return policies
    const { end: policyEnd, ...policy } = policies.value
    this.#note(policy)
    this.#end('policy', this.#withSudoers(policyEnd))
    const jobs = await findJobs(this.#ask, role.roles)
    if (!jobs.ok) return jobs
    const { end: jobsEnd, ...job } = jobs.value
    this.#note(job)
    this.#end('jobs', this.#withSudoers(jobsEnd))
    const kept = await findTimers(this.#ask, sudo)
    if (!kept.ok) return kept
    const { end: timerEnd, timers } = kept.value
    this.#note({ timers })
    this.#end('timer', timerEnd)
    return this.#clock()
  }

  /** What a narrow sudoers may lack is shown where something could not be read. */
  #withSudoers(end: Ended): Ended {
    const { sudo, user } = this.#facts as NodeFacts
    const isNarrow = sudo.kind === 'read' || sudo.kind === 'write'
    return isNarrow && end.state === 'bad' && !end.fix ? { ...end, fix: sudoersToRead(user, sudo.lctl) } : end
  }

  async #version(lctl: string): Promise<Result<VersionFound, DiscoveryFailure>> {
    const asked = await this.#ask('lctl', 'lctl get_param -n version')
    if (!asked.ok) return asked
    const read = asked.value
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
    const named = await this.#ask('lctl', 'lctl --version')
    if (!named.ok) return named
    const tool = readVersion(named.value.stdout.replace(/^lctl /m, ''))
    this.#note({ versionText: tool.versionText })
    const next = 'Load Lustre on it (modprobe lustre) or mount its targets; it is tried again by itself.'
    const why = `lctl ${tool.versionText} is there, the modules are not loaded: ${saidBy(read)}`
    this.#list.end('lctl', 'bad', why, next)
    return this.#refuse('LUSTRE_NOT_LOADED', 'Lustre is not loaded', why, next)
  }

  /** The last step. */
  async #clock(): Promise<Found> {
    const read = await findClock(this.#ask, this.#nowMs)
    if (!read.ok) return read
    const { end, clockSkewMs } = read.value
    this.#note({ clockSkewMs })
    this.#end('clock', end)
    return ok(this.facts as NodeFacts)
  }
}

/**
 * Runs the checklist.
 *
 * @param exec    the server's shell, ungated: what it is sent is on the closed list all the same.
 * @param onStep  is given the whole list at every change.
 * @returns       what was found; why the server is not read, with what was found until then. A command without an end in time, and
 *                the loss of the connection on the way, are such failures, too.
 */
export async function discover(
  exec: Exec,
  host: string,
  onStep: (steps: readonly CheckStep[]) => void = () => undefined,
  nowMs: () => number = Date.now,
): Promise<Result<NodeFacts, DiscoveryFailure>> {
  return new Discovery(exec, host, onStep, nowMs).run()
}

/** Whether it was cut short by the connection, which says nothing of the server: a command that ran too long, or printed too much, does. */
export const isCutShort = ({ code }: DiscoveryFailure): boolean => /^SSH_(?!COMMAND_TIMEOUT$|OUTPUT$)/.test(code)
