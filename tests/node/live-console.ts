/** Console with a cluster over SSH for tests, and its report of the servers. */
import { createRouterClient } from '@orpc/server'
import { clusterInput, type ClusterCard, type ClusterInput } from '#core/api/clusters.ts'
import { readClusters } from '#electron/cluster/live/cluster-file.ts'
import { openHost } from '#electron/host/host.ts'
import { formOfValue } from '#electron/host/rules/draft.ts'
import type { Shell } from '#electron/host/shell/shell.ts'
import type { SshLimits } from '#electron/ssh/limits.ts'
import { tempFolder } from './temp-folder.ts'

export interface LiveConsoleOptions {
  /** File of one cluster, or the cluster itself. */
  readonly cluster: string | ClusterInput
  readonly knownHosts: string
  readonly dataDir?: string
  readonly limits?: SshLimits
  readonly around?: Shell
}

/** Console whose cluster file is read, and nothing connected. */
export async function liveConsole({ cluster, knownHosts, dataDir = tempFolder(), limits, around }: LiveConsoleOptions) {
  const read =
    typeof cluster === 'string'
      ? readClusters(cluster)
      : { ok: true as const, value: [clusterInput.parse(cluster)] as const }
  if (!read.ok) throw new Error(read.error.why)
  const [input] = read.value
  if (!input) throw new Error('the file has no cluster')
  const opened = await openHost({
    shell: 'terminal',
    historyFile: ':memory:',
    dataDir,
    paced: false,
    clusters: [input],
    around,
    ssh: {
      home: dataDir,
      configFile: null,
      agentSocket: '',
      limits,
      knownHosts: [{ path: knownHosts, isRequired: true }],
    },
  })
  if (!opened.ok) throw new Error(opened.error.what)
  const host = opened.value
  const client = createRouterClient(host.router, { context: { peer: 'test' } })
  const { name } = input
  let streams = 0

  /** First card of the cluster that matches. */
  async function card(test: (card: ClusterCard) => boolean, waitMs = 25_000): Promise<ClusterCard> {
    const stream = `c${++streams}`
    let last: ClusterCard | undefined
    try {
      const frames = await client.views.connections({ stream, hz: 10 }, { signal: AbortSignal.timeout(waitMs) })
      for await (const f of frames) {
        await client.host.ack({ stream, seq: f.seq })
        last = f.clusters.find((c) => c.name === name)
        if (last && test(last)) return last
      }
    } catch (e) {
      if (!(e instanceof Error) || !/abort|timeout/i.test(`${e.name} ${e.message}`)) throw e
    }
    const servers = last?.servers.map((s) => ({
      host: s.host,
      state: s.state,
      text: s.text,
      bad: s.steps.filter((t) => t.state === 'bad'),
    }))
    throw new Error(
      `it never came: ${JSON.stringify({ state: last?.state, text: last?.text, servers }).slice(0, 4000)}`,
    )
  }

  /** Connects, opens it, and waits for `samples` samples. */
  async function show(samples = 2): Promise<void> {
    await client.clusters.connect({ name })
    await client.clusters.show({ name })
    await card((c) => c.onScreen)
    while (host.monitor.sample < samples) await new Promise((done) => setTimeout(done, 50))
  }

  /** Unlocks it and enters enforce, under a controller without decisions. */
  async function enforce(): Promise<void> {
    await client.source.setController({ controller: 'none' })
    await client.source.unlock({ typed: name })
    await client.source.setMode({ mode: 'enforce' })
  }

  const ruleService = () => host.onScreen.console.ruleService

  return {
    host,
    client,
    name,
    dataDir,
    card,
    show,
    enforce,
    ruleService,
    /** Latest frame of the staged changes. */
    staged: async () => {
      const frames = await client.views.staged({ stream: `s${++streams}`, service: 'ost_io' })
      for await (const f of frames) return f
      throw new Error('no frame')
    },
    /** Stages a value of nrs_tbf_rule. */
    stage: (value: string, expiresS: number | null) =>
      client.rules.stage({
        service: 'ost_io',
        form: formOfValue(value),
        terms: { expiresS, reason: 'ticket 7' },
      }),
    /** Sends the staged changes after review; the canary is watched for `canaryS`. @returns end states, `oss01 done` */
    commit: async (canaryS = 0): Promise<string[]> => {
      const { planId } = ruleService().plan('ost_io')
      const sent = await ruleService().commit('ost_io', planId, ruleService().typedTarget('ost_io'), { canaryS })
      return sent.ok ? endsOf(sent.value.nodes) : [`${sent.error.code}: ${sent.error.why}`]
    },
    close: () => host.close(),
  }
}

export type LiveConsole = Awaited<ReturnType<typeof liveConsole>>

export const endsOf = (nodes: readonly { readonly host: string; readonly state: string }[]): string[] =>
  nodes.map((n) => `${n.host} ${n.state}`)
