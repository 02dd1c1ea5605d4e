/** Source of a live cluster: history, audit, monitor, write protection and rules. */
import type { OtherLease } from '#core/api/frames.ts'
import { formatFailure, type Result } from '#core/base/result.ts'
import { ADAPTBF } from '#core/controllers/registry.ts'
import type { LiveCluster } from '../../cluster/live/live-cluster.ts'
import type { LiveSource } from '../../cluster/live/live-source.ts'
import type { MonitorOptions } from '../../cluster/monitor-options.ts'
import { ClusterMonitor } from '../../cluster/monitor.ts'
import { Audit, type AuditEntry, type AuditRecord } from '../../base/audit.ts'
import { newSession } from '../../enforce/console-name.ts'
import { leaseStore } from '../../enforce/store-leases.ts'
import { unavailableStops } from '../../enforce/store-stops.ts'
import { thisUser, type EnforcementStore } from '../../enforce/store.ts'
import { Unlock } from '../../enforce/unlock.ts'
import type { History } from '../../history/history.ts'
import { RuleService } from '../rules/rule-service.ts'
import { otherConsoles } from './other-consoles.ts'
import type { BegunSource } from './sampled-cluster.ts'
import type { Source } from './source.ts'

/** Interval of checks for leases of other consoles on the servers, wall ms; the first is soon after the start. */
const CONSOLES_EVERY_MS = 30_000
const CONSOLES_FIRST_MS = 3_000
/** Retry interval for waiting audit records, wall ms. */
const SETTLE_EVERY_MS = 5_000
/** Longest wait for the removal of controllers' rules. */
const RELEASE_MS = 5_000

export interface BeginParts {
  /** History of this cluster, in a file shared with others. */
  readonly history: History
  readonly store: Result<EnforcementStore>
  /** Opens the store again if it could not be opened at first: for waiting records of removals. */
  readonly reopen: () => Result<EnforcementStore>
  /** Planes beside metadata: of the window's host, not of a command. */
  readonly planes?: Pick<MonitorOptions, 'planes' | 'haechi' | 'ccpfs'>
}

export function beginLive(
  cluster: LiveCluster,
  source: LiveSource,
  { history, store, reopen, planes = {} }: BeginParts,
): BegunSource<Source> {
  const sinceMs = Date.now()
  const hosts = cluster.servers.map((s) => s.host).join(' ')
  history.beginSource('LIVE', source.cluster, hosts.slice(0, 500), sinceMs)
  const monitor = new ClusterMonitor({
    source,
    history,
    session: newSession(thisUser()),
    audit: auditOf(cluster, store, reopen),
    mode: 'observe',
    controller: ADAPTBF,
    probes: { off: cluster.input.off },
    ...planes,
    leases: store.ok ? leaseStore(store.value.leases, cluster.name, thisUser()) : undefined,
    stops: store.ok ? store.value.stops.of(cluster.name) : unavailableStops(store.error.why ?? store.error.what),
  })
  const writeProtection = new Unlock({
    cluster: cluster.name,
    safeMode: () => cluster.input.safeMode,
    refusal: () => (store.ok ? store.value.refusal : store.error),
    root: {
      hosts: () => cluster.servers.filter((s) => s.facts?.isRoot).map((s) => s.host),
      isAllowed: () => cluster.input.allowRoot,
    },
    onLock: (why) => {
      const atMs = monitor.nowMs()
      monitor.events.add({ atMs, kind: 'mode', level: 'watch', subject: 'Lock', text: why, where: cluster.name })
      // Its rules are removed; if that cannot be recorded, the leases end them.
      if (monitor.loop.mode === 'enforce') monitor.setMode('advise')
      monitor.changed()
    },
  })
  let otherLeases: readonly OtherLease[] = []
  let isClosed = false
  const findOtherConsoles = async (): Promise<void> => {
    const now = monitor.nowMs()
    try {
      const found = await otherConsoles(begun)
      if (isClosed) return
      otherLeases = found.map(({ leftS, ...lease }) => ({
        ...lease,
        expiresMs: leftS === null ? null : now + leftS * 1000,
      }))
    } catch (e) {
      // The store was closed while a server was slow to answer, or its disk failed: retried later.
      if (isClosed || isStoreFault(e)) return
      throw e
    }
    monitor.changed()
  }
  const first = setTimeout(() => void findOtherConsoles(), CONSOLES_FIRST_MS).unref()
  const again = setInterval(() => void findOtherConsoles(), CONSOLES_EVERY_MS).unref()
  // Also checked between two samples.
  monitor.onChange(() => writeProtection.look())
  const settling = setInterval(() => monitor.audit.settle(), SETTLE_EVERY_MS).unref()
  const begun: Source = {
    monitor,
    writeProtection,
    store: store.ok ? store.value : undefined,
    ruleService: new RuleService(monitor, {
      mayWrite: () => writeProtection.mayWrite(),
      store: store.ok ? store.value : undefined,
    }),
    facts: {
      env: cluster.input.env,
      sinceMs,
      speed: () => 1,
      achieved: () => 1,
      safeMode: () => cluster.input.safeMode,
      unlockedUntilMs: () => writeProtection.untilMs,
      silent: () => cluster.servers.filter((s) => !s.isReady).map((s) => s.host),
      otherLeases: () => otherLeases,
      recordFault: store.ok ? undefined : store.error,
    },
    setSpeed: undefined,
  }
  return {
    source: begun,
    stopAndRelease: async () => {
      writeProtection.lock('writing was disabled in Connections')
      if (monitor.loop.mode === 'enforce') monitor.setMode('advise')
      await leasesEnd(monitor)
      await begun.ruleService.close()
    },
    close: async () => {
      isClosed = true
      clearTimeout(first)
      clearInterval(again)
      clearInterval(settling)
      const wasEnforcing = monitor.loop.mode === 'enforce'
      writeProtection.lock('the cluster was disconnected')
      if (wasEnforcing) {
        // The last check removes the rules of the controllers; if a server does not answer, its lease does.
        monitor.setMode('advise')
        await monitor.tick(source.nowNs())
      }
      await begun.ruleService.close()
      monitor.audit.settle()
      monitor.close()
      history.close()
    },
  }
}

/** Waits until controllers have removed their rules; on a server that does not answer, its lease does so later. */
async function leasesEnd(monitor: ClusterMonitor): Promise<void> {
  const isOn = (): boolean =>
    monitor.allServers.some((h) => monitor.loop.lease(h)?.state ?? monitor.metadata.lease(h)?.state)
  if (!isOn()) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(late)
      off()
      resolve()
    }
    const off = monitor.onChange(() => void (isOn() || end()))
    const late = setTimeout(end, RELEASE_MS)
  })
}

const isStoreFault = (e: unknown): boolean => e instanceof Error && 'code' in e && String(e.code).startsWith('SQLITE_')

/**
 * Without an enforcement store nothing is enforced: the write protection refuses all writes. Removals are recorded as soon as the
 * store can be opened.
 */
function auditOf(cluster: LiveCluster, store: Result<EnforcementStore>, reopen: () => Result<EnforcementStore>): Audit {
  const loginOf = (host: string): string => {
    const server = cluster.servers.find((s) => s.host === host)
    const state = server?.state
    const key = state?.kind === 'connected' ? state.connected.offered.at(-1) : undefined
    return server && 'text' in server.address ? `${server.address.text} ${key?.fingerprint ?? ''}`.trim() : ''
  }
  const literal = (host: string, command: string): string =>
    cluster.source?.nodes.find((n) => n.host === host)?.literal?.(command) ?? command
  const author = { cluster: cluster.name, loginOf, literal }
  if (store.ok) return store.value.audit(author)
  const append = (entry: AuditEntry): AuditRecord => {
    const again = reopen()
    if (!again.ok) throw new Error(formatFailure(again.error))
    try {
      return again.value.append(entry)
    } finally {
      again.value.close()
    }
  }
  return new Audit({ append }, undefined, { ...author, who: thisUser() })
}
