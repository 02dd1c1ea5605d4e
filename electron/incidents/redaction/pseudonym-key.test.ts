import { createHmac } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NameCollector } from '#core/snapshot/names.ts'
import { makeRedactor } from '#core/snapshot/pseudonyms.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { codeOf, KEY_FILE, pseudonymCode, type NameCode } from './pseudonym-key.ts'

const codeIn = (folder: string | undefined): NameCode => {
  const code = pseudonymCode(folder)
  if (!code.ok) throw new Error(code.error.why)
  return code.value
}

describe('the key', () => {
  it('is made once, for its owner only, and nothing is left beside it', () => {
    const folder = join(tempFolder(), 'data')
    const first = codeIn(folder)('user', 'tkovac')
    expect(statSync(join(folder, KEY_FILE)).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual([KEY_FILE])
    expect(codeIn(folder)('user', 'tkovac')).toBe(first)
  })

  it('is the owner’s again where its rights were wider', () => {
    const folder = tempFolder()
    codeIn(folder)
    chmodSync(join(folder, KEY_FILE), 0o644)
    codeIn(folder)
    expect(statSync(join(folder, KEY_FILE)).mode & 0o777).toBe(0o600)
  })

  it.each([
    '',
    'x',
    'sluice pseudonym key 1\nabc\n',
    'sluice pseudonym key 2\n' + 'a'.repeat(64) + '\n',
    'a'.repeat(5_000),
  ])('that is damaged is refused and stays as it is: %j', (content) => {
    const folder = tempFolder()
    writeFileSync(join(folder, KEY_FILE), content)
    const code = pseudonymCode(folder)
    expect(!code.ok && code.error.code).toBe('PSEUDONYM_KEY')
    expect(readFileSync(join(folder, KEY_FILE), 'utf8')).toBe(content)
  })

  it('exploit: a link at its place is refused, and what it leads to keeps its rights', () => {
    const folder = tempFolder()
    const key = join(tempFolder(), 'key')
    const notes = join(tempFolder(), 'notes')
    writeFileSync(key, `sluice pseudonym key 1\n${'0'.repeat(64)}\n`, { mode: 0o644 })
    writeFileSync(notes, 'of everybody')
    chmodSync(notes, 0o644)
    symlinkSync(key, join(folder, KEY_FILE))
    expect(pseudonymCode(folder)).toMatchObject({ ok: false, error: { code: 'PSEUDONYM_KEY' } })
    const other = tempFolder()
    symlinkSync(notes, join(other, KEY_FILE))
    expect(pseudonymCode(other).ok).toBe(false)
    expect(statSync(notes).mode & 0o777).toBe(0o644)
  })

  it('exploit: one that another user put there is refused', (ctx) => {
    if (process.getuid?.() !== 0) return ctx.skip()
    const folder = tempFolder()
    codeIn(folder)
    chownSync(join(folder, KEY_FILE), 4_242, 4_242)
    const own = process.getuid
    process.getuid = () => 1_000
    try {
      expect(pseudonymCode(folder)).toMatchObject({ ok: false, error: { code: 'PSEUDONYM_KEY' } })
    } finally {
      process.getuid = own
    }
  })

  it('that is a folder is refused', () => {
    const folder = tempFolder()
    codeIn(join(folder, KEY_FILE))
    const code = pseudonymCode(folder)
    expect(!code.ok && code.error.code).toBe('PSEUDONYM_KEY')
    expect(existsSync(join(folder, KEY_FILE))).toBe(true)
  })

  it('without a folder lives as long as the process', () => {
    expect(codeIn(undefined)('user', 'tkovac')).toBe(codeIn(undefined)('user', 'tkovac'))
  })
})

describe('codes', () => {
  it('are HMAC-SHA256 in letters of five bits', () => {
    const key = Buffer.alloc(32, 9)
    const digest = createHmac('sha256', key).update('user\u0000ümlaut').digest()
    const bits = [...digest].map((b) => b.toString(2).padStart(8, '0')).join('')
    const letters = bits
      .match(/.{5}/g)
      ?.map((five) => '0123456789abcdefghjkmnpqrstvwxyz'[parseInt(five, 2)])
      .join('')
    expect(codeOf(key)('user', 'ümlaut')).toBe(letters)
  })

  it('exploit: a dictionary of all users gives nothing away without the key', () => {
    const users = Array.from({ length: 2_000 }, (_, i) => `person${i}`)
    const names = new NameCollector()
    for (const u of users) names.add('user', u)
    const [own, other] = [1, 2].map((n) => makeRedactor(names, codeOf(Buffer.alloc(32, n))))
    const made = new Set(users.map((u) => own?.name('user', u)))
    const tried = users.filter((u) => own?.name('user', u) === other?.name('user', u))
    expect(made.size).toBe(users.length)
    // Among 32^4 codes of four letters, two thousand rarely collide.
    expect(tried.length).toBeLessThan(5)
  })

  it('exploit: the hash in the name of a controller’s rule is not that of its job any more', () => {
    const r = makeRedactor(new NameCollector(), codeOf(Buffer.alloc(32, 1)))
    expect(r.name('rule', 'ab_7f46243a33')).toMatch(/^ab_[0-9a-f]{10}$/)
    expect(r.text("nrs_tbf_rule='reg stop ab_7f46243a33'")).not.toContain('7f46243a33')
  })
})
