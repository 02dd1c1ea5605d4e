/** Servers as they are read right before anything is sent, not as the last sample had them. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { SERVICES } from '../../base/service.ts'
import { readServer, readVersion } from '../../enforce/read-server.ts'
import type { ServerFacts } from './rule-plan.ts'
import type { PolicyRead } from './policy-plans.ts'

export interface ServersNow {
  /** Those that answered. */
  readonly now: readonly PolicyRead[]
  readonly factsOf: (host: string) => ServerFacts
}

/** @param servers  as they stood at the newest sample. */
export async function readNow(
  monitor: ClusterMonitor,
  service: ServiceName,
  servers: readonly ServerRules[],
  answerMs?: number,
  rulesAre?: Parameters<typeof readServer>[4],
): Promise<ServersNow> {
  const facts = new Map<string, ServerFacts>()
  const read = await Promise.all(
    servers.map(async (s) => {
      const node = monitor.node(s.server)
      if (!node) return undefined
      facts.set(s.server, { version: await readVersion(node, answerMs), keeps: node.timers ?? 'systemd' })
      return readServer(node, SERVICES[service], s, answerMs, rulesAre)
    }),
  )
  const factsOf = (host: string): ServerFacts => facts.get(host) ?? { version: undefined, keeps: 'none' }
  return { now: read.filter((s) => s !== undefined), factsOf }
}
