/** What of the machine matters: how an expiry can be kept on it, and what its clock says. */
import { ok, type Result } from '#core/base/result.ts'
import type { TimerKind } from '../../base/connection.ts'
import type { Ask, Ended } from './find-lustre.ts'
import { saidBy } from './checklist.ts'
import type { DiscoveryFailure, NodeFacts } from '../remote/facts.ts'
import type { SudoScope } from '../remote/sudo-scope.ts'

const TIMER_LINE = 'systemctl is-system-running; command -v systemd-run; command -v setsid; command -v nohup'
/** States of a systemd that takes transient units. */
const RUNS = /^(?:running|degraded|starting|initializing|maintenance)$/m

/** systemd where it runs, a detached sh elsewhere, the helper where sudoers allows nothing else. */
export async function findTimers(
  ask: Ask,
  scope: SudoScope,
): Promise<Result<{ timers: TimerKind; end: Ended }, DiscoveryFailure>> {
  if (scope.kind === 'read') {
    return ok({ timers: 'none', end: { state: 'skipped', detail: 'not needed: this login reads only' } })
  }
  if (scope.kind === 'write' && scope.hasHelper) {
    return ok({ timers: 'helper', end: { state: 'ok', detail: `${scope.helper} keeps the expiry of rules` } })
  }
  const asked = await ask('timer', TIMER_LINE)
  if (!asked.ok) return asked
  const r = asked.value
  const has = (program: string): boolean => new RegExp(`^/\\S{0,200}/${program}$`, 'm').test(r.stdout)
  const isAny = scope.kind === 'root' || scope.kind === 'broad'
  if (isAny && RUNS.test(r.stdout) && has('systemd-run')) {
    return ok({ timers: 'systemd', end: { state: 'ok', detail: 'systemd: transient timers' } })
  }
  if (has('setsid') || has('nohup')) {
    const why = isAny ? 'systemd does not run here' : 'systemd-run is not granted'
    const detail = `a detached sh keeps the expiry (${why}); it does not outlive a reboot, nor do rules`
    return ok({ timers: 'shell', end: { state: 'ok', detail } })
  }
  const detail = `no expiry can be kept on it: ${saidBy(r)}`
  // csh, which is asked where there is no command channel.
  const isOddShell = /command: command not found/i.test(r.stderr)
  const fix = isOddShell
    ? 'Give the login /bin/sh as its shell, or let it run `exec sh`.'
    : 'Install util-linux (setsid) or coreutils (nohup).'
  return ok({ timers: 'none', end: { state: 'watch', detail, fix } })
}

/** Above this the difference is worth a word, ms. */
const SKEW_MS = 2000

export async function findClock(
  ask: Ask,
  nowMs: () => number,
): Promise<Result<Pick<NodeFacts, 'clockSkewMs'> & { end: Ended }, DiscoveryFailure>> {
  const before = nowMs()
  const asked = await ask('clock', 'date +%s.%N')
  const after = nowMs()
  if (!asked.ok) return asked
  const r = asked.value
  // A date that does not know %N prints it.
  const [, seconds, fraction] = /^(\d{9,11})\.(\d{9}|%?N)$/m.exec(r.stdout) ?? []
  if (seconds === undefined) {
    return ok({ clockSkewMs: undefined, end: { state: 'watch', detail: `its clock cannot be read: ${saidBy(r)}` } })
  }
  const isWhole = !/^\d+$/.test(fraction ?? '')
  const serverMs = Number(seconds) * 1000 + (isWhole ? 500 : Number(fraction) / 1e6)
  const skew = Math.round(serverMs - (before + after) / 2)
  const error = Math.round((after - before) / 2) + (isWhole ? 500 : 0)
  const size = `${Math.abs(skew) < 10_000 ? `${Math.abs(skew)} ms` : `${Math.round(Math.abs(skew) / 1000)} s`}`
  const words = `${size} ${skew < 0 ? 'behind' : 'ahead of'} this machine (within ${error} ms)`
  if (Math.abs(skew) - error < SKEW_MS) return ok({ clockSkewMs: skew, end: { state: 'ok', detail: words } })
  const detail = `${words}; expiries run on the server's clock, samples carry this machine's`
  const fix = 'Set both by NTP (chronyc tracking, timedatectl).'
  return ok({ clockSkewMs: skew, end: { state: 'watch', detail, fix } })
}
