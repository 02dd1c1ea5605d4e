import type { Command } from 'commander'
import type { ServiceName } from '#core/api/rule-edits.ts'
import { formatFailure } from '#core/base/result.ts'
import { EnforcementStore } from '../../enforce/store.ts'
import { flagsOf } from '../clusters-flags.ts'
import { openCluster, stopOpening } from '../live.ts'
import { EXIT, jsonText, line, must, plain } from '../output.ts'
import { commandRules, openStore } from './command-rules.ts'
import { listedNodes, listTable, timersOf } from './list.ts'

export interface ListOptions {
  readonly json?: true
  readonly service: ServiceName
}

/** Exits with 5 if some servers did not answer. */
export async function list(name: string, { json, service }: ListOptions, command: Command): Promise<void> {
  const flags = flagsOf(command)
  const kept = openStore(flags)
  // Rules can still be listed; only their owners are unknown.
  if (!kept.ok) process.stderr.write(`sluice: ${plain(formatFailure(kept.error))}\n`)
  const store = kept.ok ? kept.value : must(EnforcementStore.open(':memory:', Date.now()))
  const opened = await openCluster(name, flags, { comesBack: false })
  if (!opened.ok) return stopOpening(opened.error, json)
  const cluster = opened.value
  const timers = await timersOf(cluster, service)
  const nodes = listedNodes(cluster, commandRules(cluster, store), store, service, timers)
  const of = new Set(cluster.source.monitor.serversOf(service))
  const missing = cluster.missing().filter((m) => !of.has(m.host) || !nodes.some((n) => n.host === m.host))
  if (json) line(jsonText({ cluster: cluster.name, service, nodes, ...(missing.length > 0 ? { missing } : {}) }))
  else line(listTable(nodes))
  process.exitCode = missing.length > 0 ? EXIT.partial : EXIT.done
  await cluster.close()
  store.close()
}
