import { expect, it } from 'vitest'
import { reportMarkdown } from '#core/snapshot/report.ts'
import { replayData } from './replay-data.ts'
import { factsOf, fill, incidentOf, SMALL } from '#tests/kits/electron/incidents/page-facts.ts'

const WORD = '`````\n# <img src=x onerror=alert(1)> [x](javascript:1) |'

it('a report says what the notebook and the samples say', () => {
  const history = fill(SMALL)
  const facts = factsOf(SMALL)
  const text = reportMarkdown(facts, replayData(history.reader(), facts))
  history.close()
  for (const part of [
    '# INC-0042 Write wait',
    '**RECORDED.**',
    '- Cluster: altair',
    '| 4711.cfd_solve.u884 | 30\u202F400.0 | 12\u202F100.0 | \u221218\u202F300.0 |',
    '~ ckpt_4655 jobid={4655.*} 200 -> 250',
    '**2.1 s \u2192 0.3 s**',
    'exit 0 \u00B7 verified by read-back',
    '14:34:12 to 14:34:42',
    'sluice snapshot verify',
  ])
    expect(text).toContain(part)
  expect(reportMarkdown(facts, null)).not.toContain('## Figures')
})

it('a job id, a note, a rule or a command that is Markdown ends no block and begins none', () => {
  const history = fill(SMALL, (k) => `${WORD}${k}`)
  const facts = factsOf(SMALL, incidentOf(SMALL, WORD))
  const text = reportMarkdown(facts, replayData(history.reader(), facts))
  history.close()
  let fence = ''
  const outside = text.split('\n').filter((line) => {
    const run = /^`{3,}/.exec(line)?.[0] ?? ''
    if (fence === '' && run !== '') fence = run
    else if (fence !== '' && line === fence) fence = ''
    else return fence === ''
    return false
  })
  expect(fence).toBe('')
  expect(outside.length).toBeGreaterThan(60)
  for (const line of outside) expect(line).not.toMatch(/<|\]\(|javascript:|^# <|`{3}/)
  expect(outside.filter((l) => l.startsWith('# '))).toHaveLength(1)
})
