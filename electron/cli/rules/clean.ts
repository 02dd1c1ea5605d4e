/**
 * `sluice rules clean CLUSTER` and `sluice stop CLUSTER`: remove every rule, timer and lease of Sluice on every server that
 * answers.
 */
import type { Command } from 'commander'
import { formatFailure } from '#core/base/result.ts'
import { namesOf } from '../../cluster/live/live-server.ts'
import { SERVICES } from '../../base/service.ts'
import type { Audit } from '../../base/audit.ts'
import { ownership } from '../../enforce/managed-names.ts'
import { stopScriptText, type ScriptServer } from '../../enforce/stop-script.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import { stopAll, stopScript } from '../../host/sources/stop.ts'
import { auditNotice } from '../../host/views/status.ts'
import { flagsOf, type ClustersFlags } from '../clusters-flags.ts'
import { findCluster } from '../known-clusters.ts'
import { openCluster, stopOpening, type OpenCluster } from '../live.ts'
import { EXIT, jsonText, line, must, plain, stopJson, writeOut, type ExitCode } from '../output.ts'
import { openStore } from './command-rules.ts'
import { codeOfEnds } from './send.ts'

export interface CleanOptions {
  readonly json?: true
}
export interface StopOptions extends CleanOptions {
  readonly script?: true
}

/** Prints removals that could not be written to the audit, because they are lost when the command exits. */
function printPending(audit: Audit): void {
  audit.settle()
  const notice = auditNotice(audit.waiting)
  if (!notice) return
  process.stderr.write(`sluice: ${plain(`${notice.what}: ${notice.why ?? ''}. Save these records:`)}\n`)
  for (const { atMs, server, kind, text } of audit.waiting?.records ?? []) {
    process.stderr.write(`${plain(`${new Date(atMs).toISOString()} ${server} ${kind} ${text}`)}\n`)
  }
}

async function remove(cluster: OpenCluster, json: true | undefined): Promise<ExitCode> {
  const { source, name } = cluster
  const stopped = await stopAll(source)
  if (!stopped.ok) {
    await cluster.close()
    return stopJson(stopped.error, json, EXIT.failed)
  }
  const { removed, nodes, state, others } = stopped.value
  printPending(source.monitor.audit)
  if (json) line(jsonText({ cluster: name, removed, state, nodes, others }))
  else {
    const ends = nodes.map((n) => `${n.host}: ${n.state}, ${n.detail}`)
    const elsewhere = others.map(
      (o) => `${o.host}: ${o.console} had ${o.lease} there; it can write again if its operator enables it`,
    )
    line([...ends, ...elsewhere, `${removed} removed, ${state}`].map(plain).join('\n'))
  }
  return codeOfEnds(nodes)
}

export async function clean(name: string, { json }: CleanOptions, command: Command): Promise<void> {
  const opened = await openCluster(name, flagsOf(command), { reconnects: false })
  if (!opened.ok) return stopOpening(opened.error, json)
  process.exitCode = await remove(opened.value, json)
  await opened.value.close()
}

const LUSTRE_ROLES = ['oss', 'mds'] as const

/** Builds the removal script from the enforcement store, for when no server can be reached from this machine. */
function scriptFromRecord(
  flags: ClustersFlags,
  name: string,
  store: EnforcementStore | undefined,
): { text: string; rules: number } {
  const input = must(findCluster(flags, name), EXIT.usage)
  const isManaged = ownership(name, store)
  const names = namesOf(input.servers)
  const servers = input.servers.map(({ roles: written }, i): ScriptServer => {
    const host = names[i] ?? ''
    const rules = (store?.rules.of(name, host) ?? []).filter(isManaged)
    const found = new Set([...written, ...rules.map((r) => SERVICES[r.service].role)])
    // Without any record all services are covered: a service that does not exist has no rules.
    const roles = found.size === 0 ? LUSTRE_ROLES : LUSTRE_ROLES.filter((r) => found.has(r))
    const units = [
      ...rules.map((r) => r.unit),
      ...(store?.leases.of(name) ?? []).map((l) => (l.host === host ? l.unit : '')),
    ]
    return { host, roles, rules, units: [...new Set(units.filter((u) => u !== ''))] }
  })
  return stopScriptText(name, servers, Date.now())
}

/** Enforcement store, or undefined: the script also removes rules by name pattern, so it does not need the store. */
function recordOf(flags: ClustersFlags): EnforcementStore | undefined {
  const opened = openStore(flags)
  if (!opened.ok) process.stderr.write(`sluice: ${plain(formatFailure(opened.error))}\n`)
  return opened.ok ? opened.value : undefined
}

async function script(name: string, flags: ClustersFlags): Promise<void> {
  const opened = await openCluster(name, flags, { reconnects: false })
  const made = opened.ok ? stopScript(opened.value.source) : scriptFromRecord(flags, name, recordOf(flags))
  if (!opened.ok) process.stderr.write('sluice: no server answers; the script is made from the enforcement store\n')
  await writeOut(made.text)
  if (opened.ok) await opened.value.close()
}

export async function stopCluster(
  name: string,
  { json, script: isScript }: StopOptions,
  command: Command,
): Promise<void> {
  if (isScript) return script(name, flagsOf(command))
  return clean(name, json ? { json } : {}, command)
}
