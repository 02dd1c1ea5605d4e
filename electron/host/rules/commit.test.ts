import { describe, expect, it, vi } from 'vitest'
import type { StagedFrame } from '#core/api/rule-edits.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { demo, emulatedCluster, twoJobs } from '../../../tests/node/emulated-cluster.ts'
import {
  asOtherUser,
  commit,
  ends,
  failing,
  LOCKED,
  QUICK,
  quiet,
  review,
  RULES,
  ruleService,
  stage,
  activeRules,
  type Around,
} from '../../../tests/node/rule-service.ts'
import { stagedFrame } from '../views/rules/staged.ts'
import { RuleService } from './rule-service.ts'
import { formOfValue } from './draft.ts'
import { edited, printed } from '#tests/kits/electron/answers.ts'

const CAP = 'start cap jobid={1.hog.u1} rate=20'

/** Runs an action right before a node executes its n-th matching command. */
const before =
  (at: RegExp, n: number, what: (host: string) => void): Around =>
  (node) => {
    let seen = 0
    return {
      ...node,
      exec: async (command) => {
        if (at.test(command) && ++seen === n) what(node.host)
        return node.exec(command)
      },
    }
  }
/** Hides matching text from a node's output. */
const hiding =
  (from: RegExp, hidden: RegExp): Around =>
  (node) => ({
    ...node,
    exec: async (command) => {
      const r = await node.exec(command)
      return from.test(command) ? edited(r, (text) => text.replaceAll(hidden, '')) : r
    },
  })
const READ_BACK = /^lctl get_param ost\.OSS\.ost_io\.nrs_policies ost\.OSS\.ost_io\.nrs_tbf_rule$/

describe('the end of a commit', () => {
  it('is never "rolled back" while a rule stands that the server does not print', async () => {
    const { c, service: d } = await ruleService({ around: hiding(READ_BACK, /^cap .*\n/gm) })
    stage(d, CAP)
    expect(ends(await commit(d))).toEqual(['oss01 rolled back', 'oss02 not sent'])
    expect(activeRules(c)).toEqual(['default * 10000'])
  })

  it('is unknown when the rules cannot be read back, and the timer stays', async () => {
    let isLost = false
    const around: Around = (node) => ({
      ...node,
      exec: async (command) => {
        const r = await node.exec(command)
        if (/start cap/.test(command)) isLost = true
        const isCut = isLost && READ_BACK.test(command)
        return isCut && r.ok ? printed(r.value.stdout.slice(0, r.value.stdout.indexOf(RULES)), r.value.stderr, 5) : r
      },
    })
    const { c, service: d } = await ruleService({ around })
    stage(d, CAP, 60)
    expect(ends(await commit(d))).toEqual(['oss01 unknown', 'oss02 not sent'])
    expect(c.source.emulator.node('oss01')?.timers.size).toBe(1)
  })

  it('is done when a controller moves its own rules meanwhile', async () => {
    const own = 'ab_0123456789'
    const restart = (host: string): void => {
      asOtherUser(c, host, `stop ${own}`)
      asOtherUser(c, host, `start ${own} jobid={2.calm.u2} rate=90`)
    }
    const c = emulatedCluster(quiet(), {
      controller: 'none',
      mode: 'enforce',
      around: before(READ_BACK, 2, restart),
    })
    for (const host of ['oss01', 'oss02']) restart(host)
    // Sluice's rules exist without an owner: the controller of this test is the one above.
    c.monitor.setMode('observe')
    await c.run(3)
    c.monitor.setMode('enforce')
    const d = new RuleService(c.monitor, QUICK)
    stage(d, CAP)
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
  })

  it('is known for each server when the audit fails between them', async () => {
    let left = Infinity
    const { c, service: d } = await ruleService({
      onAudit: () => {
        if (--left < 0) throw new Error('disk full')
      },
    })
    stage(d, CAP)
    // Reason, command for oss01, and outcome.
    left = 3
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 not sent'])
    expect(activeRules(c, 'oss02')).toEqual(['default * 10000'])
    left = Infinity
    expect(d.undo(d.changesOf('ost_io')[0]?.id ?? '')).toMatchObject({ ok: true })
  })

  it('is that of the servers so far when the cluster is locked meanwhile', async () => {
    let isLocked = false
    const { c, service: d } = await ruleService(
      { around: before(/start cap/, 1, () => void (isLocked = true)) },
      quiet(),
      {
        mayWrite: () => (isLocked ? LOCKED : undefined),
      },
    )
    stage(d, CAP)
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 not sent'])
    expect(activeRules(c, 'oss02')).toEqual(['default * 10000'])
  })

  it('is a roll-back that only removes when everything was stopped meanwhile, by whichever process', async () => {
    const stop = (): void => void c.monitor.stops.record('stop', 'ada@desk', 0)
    const { c, service: d } = await ruleService({ around: before(/change (?:one|two) /, 1, stop) })
    stage(d, 'start one jobid={2.calm.u2} rate=7')
    stage(d, 'start two jobid={3.calm.u2} rate=7')
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    await c.run(5)
    const from = c.writes().length
    stage(d, 'change one rate=3')
    stage(d, 'change two rate=3')
    expect(ends(await commit(d))).toEqual(['oss01 failed', 'oss02 not sent'])
    // Only the write before the stop; a rollback by another change of rate is not sent.
    expect(c.writes().slice(from)).toHaveLength(1)
  })
})

describe('a commit', () => {
  it('puts on record why, before anything else', async () => {
    const { c, service: d } = await ruleService()
    stage(d, CAP)
    const from = c.records.length
    await commit(d)
    expect(c.records[from]?.kind).toBe('mode')
    expect(c.records[from]?.text).toMatch(/start cap; reason: ticket 7$/)
    const sent = c.sent
      .filter((s) => /^(?:lctl set_param|systemd-run|systemctl stop)/.test(s.command))
      .map((s) => s.command)
    const intents = c.records.filter((r) => r.kind === 'intent').flatMap((r) => r.text.split('\n'))
    expect(sent.length).toBeGreaterThan(0)
    expect(intents).toEqual(sent)
  })

  it('of one window keeps what another one stages meanwhile, and the other cannot commit then', async () => {
    let second: string[] = []
    const meanwhile = before(/start cap/, 1, () => {
      stage(d, 'start late jobid={2.*} rate=9')
      void commit(d).then((r) => (second = ends(r)))
    })
    const { service: d } = await ruleService({ around: meanwhile })
    stage(d, CAP)
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    expect(second).toEqual(['BUSY'])
    expect(d.staged.of('ost_io').map((s) => s.edit.name)).toEqual(['late'])
  })

  it('shows the staged changes as they were reviewed while it is sent, not errors of servers that have part of it', async () => {
    let during: StagedFrame | undefined
    const look = (node: NodeConnection): NodeConnection => ({
      ...node,
      exec: async (command) => {
        if (node.host === 'oss02' && /start cap/.test(command)) {
          // By now the reading of the first server shows the rule.
          await c.run(c.source.emulator.seconds + 2)
          // Later than any cached plan.
          const laterMs = performance.now() + 60_000
          const clock = vi.spyOn(performance, 'now').mockReturnValue(laterMs)
          during = stagedFrame(d, { service: 'ost_io' }, 1)
          clock.mockRestore()
        }
        return node.exec(command)
      },
    })
    const { c, service: d } = await ruleService({ around: look })
    stage(d, CAP)
    const before = stagedFrame(d, { service: 'ost_io' }, 1)
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    expect(c.rules('oss01')).toContain('cap')
    expect(during?.state.phase).toBe('committing')
    expect([during?.lints, during?.review, during?.items]).toEqual([before.lints, before.review, before.items])
    expect(during?.review?.refused).toBeNull()
  })

  it('goes through at every review while a controller writes its rules ten times a second', async () => {
    const c = emulatedCluster(demo(), { mode: 'enforce', controller: 'adaptbf' })
    await c.run(8)
    const d = new RuleService(c.monitor, QUICK)
    for (let i = 0; i < 5; i++) {
      for (const k of ['a', 'b', 'c']) stage(d, `start op${i}${k} jobid={9${k}.*} rate=${50 - 9 * i}`)
      // One sample later plans are based on the latest writes.
      await c.run(9 + 2 * i)
      const r = review(d)
      await c.run(8 + 2 * (i + 1))
      expect(ends(await d.commit('ost_io', r?.planId ?? '', r?.typed ?? ''))).toEqual(['oss01 done', 'oss02 done'])
    }
  })

  it('is refused where TBF runs on one queue alone, which hides the rules', async () => {
    const { c, service: d } = await ruleService()
    for (const value of ['fifo', 'tbf reg jobid']) {
      c.source.emulator.node('oss01')?.exec(`lctl set_param ost.OSS.ost_io.nrs_policies='${value}'`)
      await c.run(value === 'fifo' ? 5 : 6)
    }
    stage(d, `reg ${CAP}`)
    expect(review(d)?.refused?.code).toBe('RULES_UNREADABLE')
    expect(review(d)?.refused?.why).toMatch(/^oss01 runs TBF/)
  })

  it('names why a server that says nothing did not take a command', async () => {
    const silent: Around = (node) => ({
      ...node,
      exec: async (command) => (/start cap/.test(command) ? printed('', '', 22) : node.exec(command)),
    })
    const { service: d } = await ruleService({ around: silent })
    stage(d, CAP)
    expect(await commit(d)).toMatchObject({ ok: true, value: { nodes: [{ detail: 'exit 22' }, {}] } })
  })
})

describe('a draft', () => {
  it('with a control character is refused, because nothing could tell whether its rule stands', async () => {
    const { c, service: d } = await ruleService()
    for (const c of ['\n', '\r', '\0', '\u001b', '\u007f']) {
      const form = { ...formOfValue(CAP), conditions: `jobid={a${c}b}` }
      expect(d.stage('ost_io', form, { expiresS: null, reason: '' })).toMatchObject({ ok: false })
    }
    expect(c.writes()).toEqual([])
  })

  it('is read against the rules of its own queue', async () => {
    const { c, service: d } = await ruleService()
    asOtherUser(c, 'oss01', `reg ${CAP}`)
    asOtherUser(c, 'oss02', `reg ${CAP}`)
    await c.run(4)
    expect(() => stage(d, CAP)).toThrow(/called cap already/)
    expect(() => stage(d, 'hp change cap rate=5')).toThrow(/no rule is called cap/)
    stage(d, `hp ${CAP}`)
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    expect(activeRules(c, 'oss01', 'hp')).toEqual(activeRules(c, 'oss01', 'reg'))
  })

  it('of text that a shell would read reaches the server as it is', async () => {
    const { c, service: d } = await ruleService({}, twoJobs())
    const items = [
      `it's`,
      '$(reboot)',
      '`reboot`',
      '"x"',
      'a\\b',
      '!!',
      '~',
      'a;b',
      'a|b',
      '<x>',
      '%n%s',
      '-n',
      '#a',
      `';'`,
    ]
    items.forEach((item, i) => stage(d, `start r${i} jobid={${item}} rate=5`))
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    items.forEach((item, i) => expect(activeRules(c)).toContain(`r${i} jobid={${item}} 5`))
  })
})

describe('a roll-back', () => {
  it('after the second command leaves nothing of the first', async () => {
    const { c, service: d } = await ruleService({ around: failing('oss01', /start one/, 'refuse') })
    asOtherUser(c, 'oss01', 'start was jobid={7.*} rate=7')
    asOtherUser(c, 'oss02', 'start was jobid={7.*} rate=7')
    await c.run(4)
    const list = activeRules(c)
    stage(d, 'change was rate=3')
    stage(d, 'start one jobid={1.*} rate=9', 60)
    expect(ends(await commit(d))).toEqual(['oss01 rolled back', 'oss02 not sent'])
    expect(activeRules(c)).toEqual(list)
    expect(c.source.emulator.node('oss01')?.timers.size).toBe(0)
  })
})

describe('where changes stand', () => {
  it('is told from the first edit to the end of the commit, and again with the next edit', async () => {
    const { c, service: d } = await ruleService()
    const phases: string[] = []
    const note = (): void => {
      const { phase, servers } = d.state('ost_io')
      const now = [phase, ...servers].join(' ')
      if (phases.at(-1) !== now) phases.push(now)
    }
    c.monitor.onChange(note)
    note()
    stage(d, CAP)
    note()
    const { planId } = d.plan('ost_io')
    expect(d.since('ost_io', 'another plan')).not.toEqual([])
    note()
    expect(d.since('ost_io', planId)).toEqual([])
    note()
    expect(ends(await commit(d))).toEqual(['oss01 done', 'oss02 done'])
    note()
    stage(d, 'stop cap')
    note()
    expect(phases.slice(0, 2)).toEqual(['editing', 'reviewed'])
    expect(phases.slice(-2)).toEqual(['done oss01 oss02', 'editing'])
    expect(phases).toContain('committing oss01')
  })

  it.each([
    ['rolled back', 'refuse', /start cap/],
    ['unknown', 'silent', /start cap|get_param/],
  ] as const)('is %s where a server answers so', async (phase, how, at) => {
    let isOn = false
    const around: Around = (node) => {
      const failed = failing('oss01', at, how, () => isOn)(node)
      return {
        ...failed,
        exec: (command) => {
          isOn ||= /start cap/.test(command)
          return failed.exec(command)
        },
      }
    }
    const { service: d } = await ruleService({ around })
    stage(d, CAP)
    await commit(d)
    expect(d.state('ost_io')).toEqual({ phase, servers: ['oss01', 'oss02'] })
  })
})
