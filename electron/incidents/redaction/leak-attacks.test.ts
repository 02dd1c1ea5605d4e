/** Information that a redacted bundle could leak although every field is replaced. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Manifest } from '#core/snapshot/manifest.ts'
import { incident as incidentShape } from '#core/snapshot/notebook.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { GENESIS, nextRecord } from '../../base/audit.ts'
import type { BundleSource } from '../bundle/bundle-source.ts'
import { codeOf } from './pseudonym-key.ts'
import { EPOCH, inputOf, smallSource } from '#tests/kits/electron/incidents/small-source.ts'
import { writeBundle } from '../bundle/write-bundle.ts'
import { openZip } from '../zip/zip-in.ts'

const PLAN = createHash('sha256').update('["ost_io",[["oss01",["start hog"]]]]').digest('hex').slice(0, 16)
const by = {
  cluster: 'small',
  plan: PLAN,
  who: 'anatole@desk7',
  monoMs: 1,
  login: `lustreadm@oss01.altair.example.org SHA256:${'a'.repeat(43)}`,
}
const of = {
  kind: 'EMULATED',
  cluster: 'small',
  fromMs: EPOCH,
  toMs: EPOCH + 5_000,
  tier: 'raw',
  frozenMs: EPOCH,
} as const
const notebook = incidentShape.parse({
  format: 1,
  id: 'INC-0001',
  title: 'Altair is slow for ANATOLE',
  status: 'open',
  author: 'anatole@desk7',
  alert: null,
  source: { kind: 'EMULATED', cluster: 'small', env: 'PROD', scenario: null, seed: 1 },
  createdMs: EPOCH,
  changedMs: EPOCH,
  resolvedMs: null,
  fromMs: EPOCH,
  toMs: EPOCH + 5_000,
  cells: [
    { id: '1', atMs: EPOCH, kind: 'note', text: 'Ask quasimodo@helpdesk.nimbus.net; see https://wiki.nimbus.net/x' },
    {
      id: '2',
      atMs: EPOCH,
      kind: 'transcript',
      audit: null,
      of,
      lines: [
        {
          atMs: EPOCH,
          where: 'oss01',
          kind: 'pasted',
          text: '[esmeralda@gate9 ~]$ ls /home/frollo\nesmeralda, FROLLO and gate9',
        },
      ],
    },
  ],
})

const texts = new Map<string, string>()
let manifest: Manifest
beforeAll(async () => {
  const small = await smallSource(6)
  const first = nextRecord(undefined, {
    atMs: EPOCH + 2_000,
    server: 'oss01',
    kind: 'intent',
    text: `plan ${PLAN} of anatole`,
    by,
  })
  const source: BundleSource = {
    ...small,
    source: { ...small.source, releases: [{ server: 'oss01', release: '2.15.8_altair' }] },
    audit: () => ({ records: [first], anchor: GENESIS, verified: true }),
    readings: () => [{ atMs: EPOCH + 2_000, server: 'oss01', what: 'job_stats', text: '- job_id:   77777\n' }],
  }
  const file = join(tempFolder(), 'x.zip')
  const code = codeOf(Buffer.alloc(32, 7))
  const written = await writeBundle(source, inputOf(), { incident: notebook, file, code, version: '1', nowMs: 1 })
  if (!written.ok) throw new Error(written.error.why)
  const zip = await openZip(file)
  if (!zip.ok) throw new Error(zip.error.why)
  for (const name of zip.value.entries.keys()) {
    const bytes = await zip.value.read(name, 2 ** 30)
    if (bytes.ok) texts.set(name, `${name}\n${bytes.value.toString('utf8')}`)
  }
  zip.value.close()
  texts.set('the archive', readFileSync(file).toString('latin1'))
  manifest = JSON.parse(texts.get('manifest.json')?.replace(/^.*\n/, '') ?? '') as Manifest
})

const where = (secret: RegExp): string[] => [...texts].filter(([, text]) => secret.test(text)).map(([name]) => name)

describe('exploit: a search of every member', () => {
  it.each([
    ['the id of a plan, a hash of commands by which names in them are tried', new RegExp(PLAN)],
    ['the site, a part of the domain of a login', /altair/i],
    ['a user in other capitals', /anatole/i],
    ['people and machines that only a note names', /quasimodo|helpdesk|nimbus/i],
    ['people and machines of a pasted prompt', /esmeralda|gate9|frollo/i],
    ['a numeric job that only a raw reading has', /77777/],
    ['the machine that exports', /desk7/],
  ])('does not find %s', (_, secret) => {
    expect(where(secret)).toEqual([])
  })

  it('the redacted records of one plan still have one', () => {
    expect(texts.get('audit.jsonl')).toMatch(/"plan":"plan-[a-z0-9]{6}"/)
    expect(manifest.redaction).toBe('pseudonyms')
  })
})
