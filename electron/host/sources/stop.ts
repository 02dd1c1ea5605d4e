/** Global stop of the active source: removes all rules of Sluice from every server that answers. */
import type { ServiceName, StopResult } from '#core/api/rule-edits.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { endsWithin } from '../../base/deadline.ts'
import { servicesOf } from '../../base/service.ts'
import { ownership, type RuleSpot } from '../../enforce/managed-names.ts'
import { stopEverything } from '../../enforce/stop-all.ts'
import { stopScriptText } from '../../enforce/stop-script.ts'
import { thisUser } from '../../enforce/store.ts'
import { settleMsOf } from './other-consoles.ts'
import type { Source } from './source.ts'

/** Failures: READ_ONLY, and those of the enforcement store. */
export async function stopAll(source: Source): Promise<Result<StopResult>> {
  const { monitor, ruleService, writeProtection, facts, store } = source
  const refused = writeProtection?.mayRemove()
  if (refused) return fail(refused)
  const silent = new Set(facts.silent?.() ?? [])
  const stopped = await stopEverything({
    cluster: monitor.source.cluster,
    nodes: monitor.source.nodes.filter((n) => !silent.has(n.host)),
    silent: [...silent],
    store,
    audit: monitor.audit,
    session: monitor.session,
    nowMs: () => monitor.nowMs(),
    // An emulated clock is paused while it is checked.
    settleMs: monitor.source.kind === 'LIVE' ? settleMsOf(source) : 0,
    stopControllers: () => {
      try {
        monitor.stops.record('stop', thisUser(), Date.now())
      } finally {
        monitor.setMode('observe')
        ruleService.cancel()
        // A global stop also ends the unlock.
        writeProtection?.lock('all Sluice rules are removed (global stop)')
      }
    },
    over: async (ms) => {
      const [busy] = await Promise.all([monitor.over(ms), endsWithin(ruleService.over(), ms).catch(() => false)])
      return ruleService.isSending ? new Set(monitor.allServers) : busy
    },
  })
  return ok(stopped)
}

/** Same as a shell script for an administrator, from the last readings; nothing is sent. */
export function stopScript(source: Source): { text: string; rules: number } {
  const { monitor, store } = source
  const isManaged = ownership(monitor.source.cluster, store)
  const servers = monitor.source.nodes.map(({ host, roles }) => {
    const rules = servicesOf(roles).flatMap(({ name }) => managedRules(source, host, name).filter(isManaged))
    return { host, roles, rules, units: unitsOn(source, host) }
  })
  return stopScriptText(monitor.source.cluster, servers, monitor.nowMs(), settleMsOf(source) / 1000)
}

/** Sluice's rules of a service at the last reading, once for all CPTs. */
function managedRules({ monitor }: Source, host: string, service: ServiceName): RuleSpot[] {
  const rules = monitor.serviceReading(host, service)?.rules ?? []
  const seen = new Set<string>()
  return rules.flatMap(({ queue, name }) => {
    const key = `${queue} ${name}`
    if (seen.has(key)) return []
    seen.add(key)
    return [{ host, service, queue, name }]
  })
}

/** Timers on a server that this console owns. */
export function unitsOn({ monitor, ruleService }: Source, host: string): string[] {
  const leases = [monitor.loop.lease(host), monitor.metadata.lease(host)].flatMap((l) => l?.state?.unit ?? [])
  return [...new Set([...leases, ...ruleService.rules.unitsOn(host)])]
}
