/** The rules of a variant, to be written from its `onS` on; those of the scenario stand from its start. */
import { sToNs } from '../base/units.ts'
import type { EmulatedCluster } from '../emulator/cluster.ts'
import type { EmulatedService } from '../emulator/ptlrpc-service.ts'
import type { Rpc } from '../emulator/rpc.ts'
import type { Variant, VariantRule } from './variant.ts'

/** A rule to be written on one server. */
export interface TimedRule {
  readonly atNs: number
  /** Writes it; what the server refuses, in words. */
  readonly write: () => string | undefined
}

/** In the order in which they are written down, on server after server. */
export function rulesOf(cluster: EmulatedCluster, { rules, onS }: Variant): TimedRule[] {
  return rules.flatMap(({ service, line }) => {
    const servers = servicesOf(cluster, service)
    if (servers.length === 0) return [{ atNs: 0, write: () => `no server runs ${service}: "${line}" is not written` }]
    return servers.map(({ host, of }) => ({
      atNs: sToNs(onS),
      write: () => {
        const written = of.nrs.writeRule(line)
        of.kick()
        return written.ok ? undefined : `${host} (${service}) refused "${line}": ${written.error}`
      },
    }))
  })
}

function servicesOf(
  { oss, mds }: EmulatedCluster,
  service: VariantRule['service'],
): { readonly host: string; readonly of: EmulatedService<Rpc> }[] {
  if (service === 'ost_io') return oss.map((o) => ({ host: o.name, of: o.io }))
  return mds.map((m) => ({ host: m.name, of: service === 'mdt' ? m.mdt : m.readpage }))
}
