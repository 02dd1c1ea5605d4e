/**
 * Discovers a server once after login: an ordered checklist of commands that only read.
 *
 * sudo, lctl, role, policy, jobs, timer, clock: each line is listed before it is sent, with the text that is sent. A
 * server whose numbers would be wrong is not read: without root's rights recent releases print truncated statistics
 * (measured A12).
 */
import type { CheckStep, ServerRole } from '#core/api/clusters.ts'
import { fail, formatReason, ok, type Failure, type Result } from '#core/base/result.ts'
import { parseVersion } from '#core/lustre/version.ts'
import { literalOf, type Access } from '../remote/command.ts'
import { Checklist, messageOf, type Exec } from './checklist.ts'
import type { DiscoveryFailure, NodeFacts } from '../remote/facts.ts'
import {
  findJobs,
  findPolicies,
  findRoles,
  isLctlGone,
  isSudoRefusal,
  lctlPath,
  readVersion,
  type RunStep,
  type Ended,
  type VersionFound,
} from './find-lustre.ts'
import { sudoersToRead } from './readings.ts'
import { LCTL_PATH, noScope, type SudoScope, ROOT_SCOPE } from '../remote/sudo-scope.ts'
import type { ExecResult, TimerKind } from '../../base/connection.ts'
import { PASSWORD_NEEDED, parseSudoList, scopeOf, scopeOfRefusal } from './sudo-list.ts'

const TIMER_LINE = 'systemctl is-system-running; command -v systemd-run; command -v setsid; command -v nohup'
/** States of a systemd that accepts transient units. */
const RUNS = /^(?:running|degraded|starting|initializing|maintenance)$/m

/** Timer mechanism: systemd if it runs, a detached sh elsewhere, the helper if sudoers allows nothing else. */
async function findTimers(
  runStep: RunStep,
  scope: SudoScope,
): Promise<Result<{ timers: TimerKind; end: Ended }, DiscoveryFailure>> {
  if (scope.kind === 'read') {
    return ok({ timers: 'none', end: { state: 'skipped', detail: 'not needed: this login reads only' } })
  }
  if (scope.kind === 'write' && scope.hasHelper) {
    return ok({ timers: 'helper', end: { state: 'ok', detail: `${scope.helper} stops expired rules` } })
  }
  const answer = await runStep('timer', TIMER_LINE)
  if (!answer.ok) return answer
  const r = answer.value
  const has = (program: string): boolean => new RegExp(`^/\\S{0,200}/${program}$`, 'm').test(r.stdout)
  const isAny = scope.kind === 'root' || scope.kind === 'broad'
  if (isAny && RUNS.test(r.stdout) && has('systemd-run')) {
    return ok({ timers: 'systemd', end: { state: 'ok', detail: 'systemd: transient timers' } })
  }
  if (has('setsid') || has('nohup')) {
    const why = isAny ? 'systemd does not run here' : 'systemd-run is not granted'
    const detail = `a detached sh stops expired rules (${why}); it does not survive a reboot, nor do rules`
    return ok({ timers: 'shell', end: { state: 'ok', detail } })
  }
  const detail = `it supports no expiry timers: ${messageOf(r)}`
  // csh, which is used if there is no command channel.
  const isOddShell = /command: command not found/i.test(r.stderr)
  const fix = isOddShell
    ? 'Give the login /bin/sh as its shell, or let it run `exec sh`.'
    : 'Install util-linux (setsid) or coreutils (nohup).'
  return ok({ timers: 'none', end: { state: 'watch', detail, fix } })
}

/** Larger clock differences are reported, ms. */
const SKEW_MS = 2000

async function findClock(
  runStep: RunStep,
  nowMs: () => number,
): Promise<Result<Pick<NodeFacts, 'clockSkewMs'> & { end: Ended }, DiscoveryFailure>> {
  const before = nowMs()
  const answer = await runStep('clock', 'date +%s.%N')
  const after = nowMs()
  if (!answer.ok) return answer
  const r = answer.value
  // A date without support for %N prints it.
  const [, seconds, fraction] = /^(\d{9,11})\.(\d{9}|%?N)$/m.exec(r.stdout) ?? []
  if (seconds === undefined) {
    return ok({ clockSkewMs: undefined, end: { state: 'watch', detail: `its clock cannot be read: ${messageOf(r)}` } })
  }
  const isWholeSeconds = !/^\d+$/.test(fraction ?? '')
  const serverMs = Number(seconds) * 1000 + (isWholeSeconds ? 500 : Number(fraction) / 1e6)
  const skew = Math.round(serverMs - (before + after) / 2)
  const error = Math.round((after - before) / 2) + (isWholeSeconds ? 500 : 0)
  const size = `${Math.abs(skew) < 10_000 ? `${Math.abs(skew)} ms` : `${Math.round(Math.abs(skew) / 1000)} s`}`
  const text = `${size} ${skew < 0 ? 'behind' : 'ahead of'} this machine (within ${error} ms)`
  if (Math.abs(skew) - error < SKEW_MS) return ok({ clockSkewMs: skew, end: { state: 'ok', detail: text } })
  const detail = `${text}; expiries run on the server's clock, samples carry this machine's`
  const fix = 'Set both by NTP (chronyc tracking, timedatectl).'
  return ok({ clockSkewMs: skew, end: { state: 'watch', detail, fix } })
}

interface Login {
  readonly uid: number
  readonly user: string
  readonly hostname: string
}

/** Parses `id -u; id -un; hostname`, preceded by any output of a login script. */
export function parseLogin(text: string): Login | undefined {
  const lines = text
    .slice(0, 16_384)
    .split('\n')
    .map((l) => l.trim())
  for (let i = lines.length - 1; i >= 0; i--) {
    const [uid = '', user = '', hostname = ''] = lines.slice(i, i + 3)
    if (!/^\d{1,10}$/.test(uid) || !/^[^\s:]{1,64}$/.test(user)) continue
    return { uid: Number(uid), user, hostname: /^[A-Za-z0-9._-]{1,253}$/.test(hostname) ? hostname : '' }
  }
  return undefined
}

/** Reason why a shell did not answer `id`. */
function shellFault(r: ExecResult): { why: string; next: string } {
  const message = messageOf(r)
  if (/not available|nologin|no shell/i.test(message)) {
    return { why: `the login has no shell: ${message}`, next: 'Give the login /bin/sh, or use another one.' }
  }
  if (r.code === 127 || /not found|unknown command|illegal command/i.test(message)) {
    return {
      why: `its shell does not run programs: ${message}`,
      next: 'Give the login a POSIX shell (chsh -s /bin/sh).',
    }
  }
  const next = 'See what a login runs (ForceCommand, ~/.bashrc), and whether `ssh HOST id -u` prints a number.'
  return { why: `it answered: ${message}`, next }
}

/**
 * Determines what sudo grants; if sudo does not list, one harmless reading is tried.
 *
 * @param send  sends a line unchanged.
 */
async function findScope(send: RunStep, login: Login): Promise<Result<SudoScope, DiscoveryFailure>> {
  if (login.uid === 0) return ok(ROOT_SCOPE)
  const list = await send('sudo', 'sudo -n -l')
  if (!list.ok) return list
  const listed = list.value
  if (listed.code === 0) return ok(scopeOf(parseSudoList(listed.stdout)))
  const refused = scopeOfRefusal(listed.stdout, listed.stderr, listed.code)
  if (refused.text !== PASSWORD_NEEDED) return ok(refused)
  // With listpw=always sudo asks for a password to list, but not necessarily to run.
  const tried = await send('sudo', `sudo -n ${LCTL_PATH} get_param -n version`)
  if (!tried.ok) return tried
  const { code, stdout } = tried.value
  const isRun = code === 0 && parseVersion(stdout.trim().split('\n').at(-1) ?? '') !== undefined
  if (!isRun) return ok(refused)
  return ok({ ...noScope('sudo runs lctl but does not list other rights (listpw)'), kind: 'read' })
}

export type { Exec } from './checklist.ts'

const NO_ACCESS: Access = { isRoot: false, sudo: noScope('not checked yet'), lctl: LCTL_PATH }

type Found = Result<NodeFacts, DiscoveryFailure>

class Discovery {
  readonly #host: string
  readonly #list: Checklist
  readonly #nowMs: () => number
  #access = NO_ACCESS
  #facts: NodeFacts | undefined

  constructor(exec: Exec, host: string, onStep: (steps: readonly CheckStep[]) => void, nowMs: () => number) {
    this.#host = host
    this.#list = new Checklist(exec, onStep)
    this.#nowMs = nowMs
  }

  get facts(): NodeFacts | undefined {
    return this.#facts && { ...this.#facts, roundTripMs: this.#list.shortestMs }
  }

  /** Sends a line unchanged. */
  readonly #send: RunStep = async (id, literal) => {
    const ran = await this.#list.runStep(id, literal)
    return ran.ok ? ran : this.#unanswered(ran.error)
  }

  /** Sends a line as rewritten for the server. */
  readonly #runStep: RunStep = async (id, line) => {
    const literal = literalOf(line, this.#access)
    if (literal.ok) return this.#send(id, literal.value)
    this.#list.end(id, 'bad', formatReason(literal.error))
    this.#list.skip('not reached')
    return this.#unanswered(literal.error)
  }

  #unanswered(failure: Failure): Result<never, DiscoveryFailure> {
    return fail({ ...failure, what: `${this.#host}: ${failure.what}`, facts: this.facts })
  }

  #end(id: Parameters<RunStep>[0], { state, detail, fix }: Ended): void {
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
    const who = await this.#runStep('sudo', 'id -u; id -un; hostname')
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
      host: this.#host,
      hostname,
      user,
      isRoot: uid === 0,
      sudo,
      lctl,
      version: undefined,
      versionText: '',
      roles: [],
      targets: [],
      expected: [],
      services: [],
      cpts: undefined,
      jobid: undefined,
      timers: 'none',
      clockSkewMs: undefined,
      roundTripMs: 0,
    }
  }

  /** Finds lctl by its path, or by its name if root finds it. */
  async #findLctl(scope: SudoScope): Promise<Result<string | undefined, DiscoveryFailure>> {
    if (scope.grants.some((g) => !g.isDenied && g.program === scope.lctl)) return ok(scope.lctl)
    const looked = await this.#runStep('lctl', 'command -v lctl')
    if (!looked.ok) return looked
    const found = lctlPath(looked.value.stdout)
    if (found !== undefined) return ok(this.#access.isRoot ? 'lctl' : found)
    // csh has no `command`, and Debian has /usr/sbin only on root's PATH.
    for (const lctl of this.#access.isRoot ? ['lctl', LCTL_PATH] : [LCTL_PATH]) {
      this.#access = { ...this.#access, lctl }
      const tried = await this.#runStep('lctl', 'lctl --version')
      if (!tried.ok) return tried
      const { code, stderr } = tried.value
      const isGone = code === 126 || code === 127 || /not found|no such file/i.test(stderr)
      if (!isGone) return ok(lctl)
    }
    return ok(undefined)
  }

  /**
   * Checks for a scheduler or PADLL's controller, which have no Lustre and need no root. @returns true if it is one.
   */
  async #readParameters(): Promise<Result<boolean, DiscoveryFailure>> {
    const looked = await this.#runStep('role', 'command -v squeue; command -v qstat; command -v sluice')
    if (!looked.ok) return looked
    const programs = looked.value.stdout.match(/^\/\S{1,200}\/(?:squeue|qstat|sluice)$/gm) ?? []
    const hasSluice = programs.some((p) => p.endsWith('/sluice'))
    const isCcpfs = hasSluice ? await this.#runsCcpfs() : ok(false)
    if (!isCcpfs.ok) return isCcpfs
    // Sluice without servers of ccPFS is there for a controller; with both, the roles must be named.
    const isController = hasSluice && !isCcpfs.value
    const isScheduler = programs.some((p) => !p.endsWith('/sluice'))
    const roles: readonly ServerRole[] = [
      ...(isScheduler ? (['scheduler'] as const) : []),
      ...(isController ? (['controller'] as const) : []),
      ...(isCcpfs.value ? (['ccpfs'] as const) : []),
    ]
    if (roles.length === 0) return ok(false)
    this.#list.end('role', 'ok', `${roles.join(' + ')}: ${programs.join(', ')}`)
    this.#note({ roles })
    return ok(true)
  }

  async #runsCcpfs(): Promise<Result<boolean, DiscoveryFailure>> {
    const listed = await this.#runStep('role', 'sluice ccpfs list')
    return listed.ok ? ok(listed.value.code === 0 && /^(?:server|meta) \d+ /m.test(listed.value.stdout)) : listed
  }

  async #finishOther(): Promise<Found> {
    for (const id of ['lctl', 'policy', 'jobs', 'timer'] as const) this.#list.end(id, 'skipped', 'no Lustre server')
    return this.#clock()
  }

  async #withoutRoot(login: Login, scope: SudoScope): Promise<Found> {
    const found = await this.#findLctl(scope)
    if (!found.ok) return found
    const path = found.value
    const isOther = path === undefined ? await this.#readParameters() : ok(false)
    if (!isOther.ok) return isOther
    if (isOther.value) {
      this.#list.end('sudo', 'ok', `${login.user}: ${scope.text}; it needs none`)
      return this.#finishOther()
    }
    const fix = sudoersToRead(login.user, path === undefined || path === 'lctl' ? LCTL_PATH : path)
    const why = `${scope.text}; numbers that lctl prints without root are wrong on recent releases`
    this.#list.end('sudo', 'bad', `${login.user}: ${why}`, fix)
    this.#list.end('lctl', path === undefined ? 'bad' : 'skipped', path ?? 'lctl is not installed')
    const next =
      'Have its administrator put the lines of the checklist into /etc/sudoers.d/sluice (visudo -c checks them).'
    return this.#refuse('SUDO_NEEDED', `${login.user} may not read as root`, why, next)
  }

  async #withoutLctl(): Promise<Found> {
    const isOther = await this.#readParameters()
    if (!isOther.ok) return isOther
    if (isOther.value) return this.#finishOther()
    this.#list.end('role', 'bad', 'neither a Lustre server nor a scheduler nor a controller')
    return this.#noLctl()
  }

  #noLctl(): Result<never, DiscoveryFailure> {
    const next = 'Install the Lustre server packages, or leave it out of the cluster.'
    this.#list.end('lctl', 'bad', 'lctl is not installed', next)
    return this.#refuse('NO_LCTL', 'lctl is not installed', 'it is neither a Lustre server nor a scheduler', next)
  }

  async #lustre(lctl: string, scope: SudoScope): Promise<Found> {
    const sudo = { ...scope, lctl: lctl === 'lctl' ? scope.lctl : lctl }
    this.#access = { ...this.#access, sudo, lctl }
    this.#note({ sudo, lctl })
    const version = await this.#version(lctl)
    if (!version.ok) return version
    this.#note(version.value)
    const roles = await findRoles(this.#runStep)
    if (!roles.ok) return roles
    const { end: roleEnd, ...role } = roles.value
    this.#note(role)
    this.#end('role', this.#withSudoers(roleEnd))
    const policies = await findPolicies(this.#runStep, role.roles)
    if (!policies.ok) return policies
    const { end: policyEnd, ...policy } = policies.value
    this.#note(policy)
    this.#end('policy', this.#withSudoers(policyEnd))
    const jobs = await findJobs(this.#runStep, role.roles)
    if (!jobs.ok) return jobs
    const { end: jobsEnd, ...job } = jobs.value
    this.#note(job)
    this.#end('jobs', this.#withSudoers(jobsEnd))
    const kept = await findTimers(this.#runStep, sudo)
    if (!kept.ok) return kept
    const { end: timerEnd, timers } = kept.value
    this.#note({ timers })
    this.#end('timer', timerEnd)
    return this.#clock()
  }

  /** Adds what a narrow sudoers may lack to a step that could not read something. */
  #withSudoers(end: Ended): Ended {
    const { sudo, user } = this.#facts as NodeFacts
    const isNarrow = sudo.kind === 'read' || sudo.kind === 'write'
    return isNarrow && end.state === 'bad' && !end.fix ? { ...end, fix: sudoersToRead(user, sudo.lctl) } : end
  }

  async #version(lctl: string): Promise<Result<VersionFound, DiscoveryFailure>> {
    const answer = await this.#runStep('lctl', 'lctl get_param -n version')
    if (!answer.ok) return answer
    const read = answer.value
    const found = readVersion(read.stdout)
    if (found.version) {
      this.#list.end('lctl', 'ok', `${lctl}: Lustre ${found.versionText}`)
      return ok(found)
    }
    if (isLctlGone(read)) return this.#noLctl()
    if (isSudoRefusal(read)) {
      const why = messageOf(read)
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
      const detail = `${lctl}: version ${found.versionText} is unknown: it is read as the newest, and never written to`
      this.#list.end('lctl', 'watch', detail)
      return ok(found)
    }
    const named = await this.#runStep('lctl', 'lctl --version')
    if (!named.ok) return named
    const tool = readVersion(named.value.stdout.replace(/^lctl /m, ''))
    this.#note({ versionText: tool.versionText })
    const next = 'Load Lustre on it (modprobe lustre) or mount its targets; it is retried automatically.'
    const why = `lctl ${tool.versionText} is there, the modules are not loaded: ${messageOf(read)}`
    this.#list.end('lctl', 'bad', why, next)
    return this.#refuse('LUSTRE_NOT_LOADED', 'Lustre is not loaded', why, next)
  }

  /** Last step: the clock. */
  async #clock(): Promise<Found> {
    const read = await findClock(this.#runStep, this.#nowMs)
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
 * @param exec    the server's shell, ungated: all commands are on the closed list anyway.
 * @param onStep  called with the whole list at every change.
 * @returns       findings; or the reason why the server is not read, with the findings until then. A command that times
 *                out, and a connection that is lost on the way, are such failures, too.
 */
export async function discover(
  exec: Exec,
  host: string,
  onStep: (steps: readonly CheckStep[]) => void = () => undefined,
  nowMs: () => number = Date.now,
): Promise<Result<NodeFacts, DiscoveryFailure>> {
  return new Discovery(exec, host, onStep, nowMs).run()
}

/**
 * True if the connection cut it short, which says nothing about the server; false for a command that ran too long or
 * printed too much.
 */
export const isCutShort = ({ code }: DiscoveryFailure): boolean => /^SSH_(?!COMMAND_TIMEOUT$|OUTPUT$)/.test(code)
