/**
 * Effect of sleep and a locked screen on writing. Both end an unlock: the person who opens the lid may not be the one
 * who typed the name. Sleep also takes every cluster out of enforce, whatever its safe mode, because no one watches the
 * controller then. Its rules are removed while there is time; otherwise the lease on each server ends them within a
 * minute.
 */
import type { PowerEvent } from '#core/api/shell.ts'
import type { ClusterService } from './cluster-service.ts'

const WHY: Readonly<Partial<Record<PowerEvent, string>>> = {
  suspend: 'this machine is being suspended',
  'lock-screen': 'the screen was locked',
}

/** @returns names of the clusters that lost their unlock or left enforce. */
export function onPower(clusters: ClusterService, what: PowerEvent): string[] {
  if (what === 'resume') {
    // Open connections are half-open by now: reconnects at once, without the previous backoff.
    for (const { cluster } of clusters.list) if (cluster.isWanted) void cluster.connect()
  }
  const why = WHY[what]
  if (why === undefined) return []
  const locked: string[] = []
  for (const { cluster, console } of clusters.list) {
    if (!console?.writeProtection) continue
    const { writeProtection, monitor, facts } = console
    const wasOpen = facts.unlockedUntilMs() !== null
    const wasEnforcing = monitor.loop.mode === 'enforce'
    writeProtection.lock(why)
    if (what === 'suspend' && monitor.loop.mode === 'enforce') {
      const atMs = monitor.nowMs()
      monitor.events.add({ atMs, kind: 'mode', level: 'watch', subject: 'Mode', text: why, where: cluster.name })
      monitor.setMode('advise')
    }
    if (wasOpen || (wasEnforcing && monitor.loop.mode !== 'enforce')) {
      locked.push(cluster.name)
      monitor.changed()
    }
  }
  if (locked.length > 0) clusters.changed()
  return locked
}
