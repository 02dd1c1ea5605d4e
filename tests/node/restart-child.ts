/** Console in a separate process, which a test ends with SIGKILL: `restart-child.ts JSON`; executes its input line by line. */
import { createInterface } from 'node:readline'
import * as z from 'zod'
import { LIMITS } from '#electron/ssh/limits.ts'
import { formOfValue } from '#electron/host/rules/draft.ts'
import { endsOf, liveConsole } from './live-console.ts'

const options = z.object({ cluster: z.string(), knownHosts: z.string(), dataDir: z.string() })
const order = z.discriminatedUnion('do', [
  z.object({ do: z.literal('commit'), rule: z.string(), expiresS: z.number(), laptopBound: z.boolean() }),
  z.object({ do: z.literal('undo') }),
])

const limits = { ...LIMITS, keepaliveMs: 1000, backoff: { baseMs: 100, mostMs: 400 }, stableMs: 1000 }
const live = await liveConsole({ ...options.parse(JSON.parse(process.argv[2] ?? '')), limits })
await live.show()
await live.card((c) => c.state === 'connected')
await live.enforce()
const print = (text: string): void => void process.stdout.write(`${text}\n`)
print('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const given = order.parse(JSON.parse(line))
  if (given.do === 'undo') {
    await live.client.rules.undo({ changeId: live.ruleService().changes[0]?.id ?? '' })
    // Missing servers are known with the next sample.
    for (let i = 0; i < 100 && live.host.monitor.missing.size === 0; i++) await new Promise((r) => setTimeout(r, 100))
    print((await live.commit()).join(', '))
    continue
  }
  const { rule, expiresS, laptopBound } = given
  await live.client.rules.stage({
    service: 'ost_io',
    form: formOfValue(rule),
    terms: { expiresS, reason: 'ticket 7', laptopBound },
  })
  const { planId } = live.ruleService().plan('ost_io')
  const sent = await live
    .ruleService()
    .commit('ost_io', planId, live.ruleService().typedTarget('ost_io'), { canaryS: 0 })
  print(sent.ok ? endsOf(sent.value.nodes).join(', ') : `${sent.error.code}: ${sent.error.why}`)
}
