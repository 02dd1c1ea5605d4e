/** Job ids come from users' environment variables and are hostile. They must reach the page as text, everywhere. */
import { mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { JobFrame, OverviewFrame } from '#core/api/frames.ts'
import Legend from '../widgets/Legend.vue'
import MarkTip from '../widgets/MarkTip.vue'
import NoticeCallout from '../widgets/NoticeCallout.vue'
import CommandText from '../widgets/CommandText.vue'
import MatchChips from '../widgets/MatchChips.vue'
import InspectorPairs from './jobs/InspectorPairs.vue'
import InspectorRules from './jobs/InspectorRules.vue'
import InspectorTargets from './jobs/InspectorTargets.vue'
import FilterBox from './jobs/FilterBox.vue'
import ReviewRules from './rules/review/ReviewRules.vue'
import RuleName from './rules/RuleName.vue'
import { ruleRowModel } from './rules/rule-row-model.ts'
import { jobsFrame, showJobs } from '#tests/kits/renderer/views/jobs-table.ts'
import { ruleRow, stagedFrame } from '#tests/kits/renderer/views/rules-frames.ts'
import ServerText from './rules/ServerText.vue'
import StagedEntry from './rules/StagedEntry.vue'
import TopMovers from './overview/TopMovers.vue'
import { jobName } from './job-name.ts'

const HOSTILE = '<img src=x onerror=alert(1)>"\'&lt;b&gt;'
beforeEach(() => setActivePinia(createPinia()))

/** Expects the full id as text, without an element made of it. */
function isText(wrapper: { element: Element; text: () => string }, text = HOSTILE): void {
  expect(wrapper.text()).toContain(text)
  expect(wrapper.element.querySelector('img, script, b[onerror]')).toBeNull()
}

describe('a hostile job id stays text', () => {
  it('in the table', async () => {
    vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(300)
    const one = <T>(value: T): T[] => [value]
    const columns = { user: one(HOSTILE), account: one(HOSTILE), topOp: one(HOSTILE), rule: one(HOSTILE) }
    const pairs = { lender: one(HOSTILE), borrower: one('b'), tokens: one(1) }
    const wrapper = await showJobs({ ...jobsFrame([HOSTILE], columns), pairs })
    isText(wrapper)
    wrapper.unmount()
    vi.restoreAllMocks()
  })
  it('in the inspector', () => {
    const rules = [{ node: HOSTILE, name: HOSTILE, conditions: `jobid={${HOSTILE}}`, rate: 1, ref: 1 }]
    isText(mount(InspectorRules, { props: { rules } }))
    const targets = { name: [HOSTILE], node: [HOSTILE], rpcs: [1], tokens: [1], record: [1] }
    const pairs = { other: [HOSTILE], tokens: [1], sinceMs: [0], more: 0, rest: 0 }
    isText(mount(InspectorPairs, { props: { pairs, record: 1 } }))
    isText(mount(InspectorTargets, { props: { frame: { targets } as unknown as JobFrame } }))
  })
  it('in the legend and in the tooltip', () => {
    isText(mount(Legend, { props: { items: [{ id: HOSTILE, name: jobName(HOSTILE).short, colour: 1 }] } }))
    const mark = { atMs: 0, kind: 'job', level: 'idle', subject: 'Job', text: HOSTILE, where: HOSTILE } as const
    isText(mount(MarkTip, { props: { marks: [mark], x: 0 } }))
  })
  it('in Top movers, in chips, in the filter and in what a server answered', () => {
    const movers = {
      jobId: [HOSTILE],
      user: [HOSTILE],
      account: [HOSTILE],
      nodes: [1],
      colour: [1],
      rpcs: [1],
      delta: [1],
      spark: [[]],
      targets: [[]],
    } satisfies OverviewFrame['movers']
    isText(mount(TopMovers, { props: { movers, sparks: movers, windowMs: 300_000, selected: null } }))
    const expressions = [{ join: '' as const, field: 'jobid', items: [HOSTILE] }]
    isText(mount(MatchChips, { props: { expressions, conditions: HOSTILE } }))
    const box = mount(FilterBox, { props: { modelValue: HOSTILE, count: '' } })
    isText(box)
    const server = { node: HOSTILE, command: HOSTILE, text: HOSTILE, exit: 0, more: 0 }
    isText(mount(ServerText, { props: { server, policy: HOSTILE } }))
    isText(mount(ServerText, { props: { server: { ...server, text: '', exit: 19 }, policy: HOSTILE } }))
    isText(mount(CommandText, { props: { commands: [HOSTILE] } }))
    isText(mount(NoticeCallout, { props: { notice: { code: 'X', what: HOSTILE } } }))
  })
  it('in the rules, in what is staged and in the review of it', () => {
    const row = ruleRow({ name: HOSTILE, reason: HOSTILE, missing: [HOSTILE], owner: 'operator' })
    const lint = { code: 'X', level: 'watch' as const, rule: HOSTILE, text: HOSTILE }
    const model = ruleRowModel(row, { nowMs: 0, lints: [lint] })
    isText(mount(RuleName, { props: { row, model } }))
    const item = stagedFrame().items[0]
    if (!item) throw new Error('no item')
    const diff = [{ kind: 'add' as const, text: HOSTILE }]
    const bad = { ...item, rule: HOSTILE, reason: HOSTILE, diff, commands: [HOSTILE] }
    isText(mount(StagedEntry, { props: { item: bad, nodes: 'OSS', editing: false } }))
    const list = [{ kind: 'add' as const, rank: 1, name: HOSTILE, text: HOSTILE }]
    isText(mount(ReviewRules, { props: { list, more: 0 } }))
  })
  it('and cannot turn the letters of a name around', () => {
    const turned = ruleRow({ name: 'safe\u202Egnp' })
    const model = ruleRowModel(turned, { nowMs: 0 })
    const wrapper = mount(RuleName, { props: { row: turned, model } })
    expect(wrapper.text()).not.toContain('\u202E')
    expect(wrapper.text()).toContain('safe\u2039202E\u203Agnp')
  })
})
