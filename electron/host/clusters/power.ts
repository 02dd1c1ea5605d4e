/**
 * What sleep and a locked screen do to writing. An unlock ends with both: whoever opens the lid is not known to be who typed the name.
 * Sleep also takes every cluster out of enforce, whatever its safe mode: nothing watches what a controller does then. Its rules go while
 * there is time; where there is none, the lease on each server ends them within a minute.
 */
import type { PowerEvent } from '#core/api/shell.ts'
import type { ClusterService } from './cluster-service.ts'

const WHY: Readonly<Partial<Record<PowerEvent, string>>> = {
  suspend: 'this machine goes to sleep',
  'lock-screen': 'the screen was locked',
}

/** @returns the clusters that may write no more than before, by name. */
export function onPower(clusters: ClusterService, what: PowerEvent): string[] {
  if (what === 'resume') {
    // Whatever was open is half-open by now: it is tried at once, not after the pause of before.
    for (const { cluster } of clusters.list) if (cluster.isWanted) void cluster.connect()
  }
  const why = WHY[what]
  if (why === undefined) return []
  const locked: string[] = []
  for (const { cluster, console } of clusters.list) {
    if (!console?.guard) continue
    const { guard, monitor, facts } = console
    const [wasOpen, wasEnforcing] = [facts.unlockedUntilMs() !== null, monitor.loop.mode === 'enforce']
    guard.lock(why)
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
