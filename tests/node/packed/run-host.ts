/**
 * Runs a packed host process under plain Node: `run-host.ts APP DATA`. It gets a parent port like Electron's utility process,
 * serves a port to a client here, and handles requests that need its packed files. Prints the outcome as JSON.
 */
import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import type { ContractRouterClient } from '@orpc/contract'
import type { contract } from '#core/api/contract.ts'
import { asElectronPort } from '../fake-electron.ts'

/** Results of a packed host with only its own files. */
export interface HostReport {
  readonly version: string
  readonly scenarios: number
  /** Number of faults that the scenario thread found in the first scenario of the gallery. */
  readonly faults: number
  /** Names of the runs in the sandbox's thread. */
  readonly variants: readonly string[]
  /** Outcome of the export's thread. */
  readonly exported: string
}

const SMALL = JSON.stringify({
  title: 'Small',
  cluster: 'small',
  clients: { count: 2 },
  oss: [{ name: 'oss01', osts: [{ name: 't-OST0000', disk: { bandwidth_mb_s: 100 } }] }],
  control: { max_rate: 100, mode: 'observe', controller: 'none' },
  jobs: [{ id: 'job.1', clients: [1], op: 'write', size_kib: 64, pattern: { kind: 'poisson', rate: 50 } }],
})

async function lastOf<E>(events: Promise<AsyncIterable<E>>): Promise<E> {
  let last: E | undefined
  for await (const event of await events) last = event
  if (last === undefined) throw new Error('no event came')
  return last
}

/** The host ends its process on request; here the report is printed first. */
const exit = process.exit.bind(process)
process.exit = (() => undefined) as typeof process.exit

async function main([app = '', data = '']: string[]): Promise<void> {
  const parent = new EventEmitter()
  const closed = new Promise<void>((resolve) => {
    Object.defineProperty(process, 'parentPort', {
      value: Object.assign(parent, {
        postMessage(message: { type?: string }) {
          if (message.type === 'closed') resolve()
        },
      }),
    })
  })
  const scenarioFile = join(data, 'small.yaml')
  writeFileSync(scenarioFile, SMALL)
  process.argv[2] = JSON.stringify({ historyFile: join(data, 'history.sqlite'), scenarioFile })
  await import(pathToFileURL(join(app, 'out/main/host-process.js')).href)

  const { port1, port2 } = new MessageChannel()
  parent.emit('message', { data: { type: 'connect' }, ports: [asElectronPort(port1)] })
  const client: ContractRouterClient<typeof contract> = createORPCClient(new RPCLink({ port: port2 }))
  port2.start()

  const info = await client.host.info()
  const { entries } = await client.sandbox.gallery()
  const first = await client.sandbox.open({ id: entries[0]?.id ?? '' })
  const run = await lastOf(
    client.sandbox.run({ text: SMALL, seconds: 1, seeds: 1, variants: [{ name: 'Baseline', controller: 'none' }] }),
  )
  // Charts become images: fonts are read, and the canvas is loaded.
  await client.source.setSpeed({ speed: 32 })
  let fromMs = 0
  let toMs = 0
  for await (const { seq, atMs } of await client.source.status({ stream: 's' })) {
    await client.host.ack({ stream: 's', seq })
    toMs = atMs ?? 0
    fromMs ||= toMs
    if (toMs - fromMs > 4_000) break
  }
  const done = await lastOf(client.incidents.export({ incident: null, span: { fromMs, toMs }, name: 'packed' }))

  parent.emit('message', { data: { type: 'close' }, ports: [] })
  await closed
  const report: HostReport = {
    version: info.version,
    scenarios: entries.length,
    faults: first.check.faults.length,
    variants: run.kind === 'result' ? run.result.variants.map(({ name }) => name) : [],
    exported: done.kind === 'failed' ? `${done.notice.code}: ${done.notice.what}` : done.kind,
  }
  process.stdout.write(`${JSON.stringify(report)}\n`, () => exit(0))
}

main(process.argv.slice(2)).catch((e: unknown) => {
  process.stderr.write(`${e instanceof Error ? (e.stack ?? e.message) : String(e)}\n`)
  exit(1)
})
