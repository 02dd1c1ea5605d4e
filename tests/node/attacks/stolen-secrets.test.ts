/**
 * An attacker with the data folder, a backup of it, or the machine of a user whose desktop has no keychain: no passphrase can be
 * read.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { SecretStore } from '#electron/host/shell/secret-store.ts'
import { keychain } from '#electron/main/secrets.ts'
import { PassphrasePrompts } from '#electron/host/clusters/cluster-service.ts'
import type { FakeElectron } from '../fake-electron.ts'
import { tempFolder } from '../temp-folder.ts'

vi.mock('electron', async () => {
  const { fakeElectron } = await import('../fake-electron.ts')
  const fake = fakeElectron()
  return { ...fake, default: fake }
})
const fake = (await import('electron')) as unknown as FakeElectron
const KEY = '/home/ana/.ssh/id_ed25519'
const SECRET = 'correct horse battery staple'

let file: string
beforeEach(() => {
  file = join(tempFolder(), 'secrets.json')
  Object.assign(fake.state, { backend: 'gnome_libsecret', isOpen: true })
  fake.safeStorage.encryptStringAsync.calls.length = 0
})
const kept = () => new SecretStore(file, keychain('linux'))
const files = (): string[] => readdirSync(join(file, '..'))

describe('where the keychain is none', () => {
  it.each([
    ['a password that stands in the source', { backend: 'basic_text' }],
    ['no desktop at all', { backend: 'unknown' }],
    ['a keychain that is closed', { isOpen: false }],
  ])('%s: nothing is sealed, nothing is written, and the reason is said', async (_, state) => {
    Object.assign(fake.state, state)
    const secrets = kept()
    expect(await secrets.state()).toMatchObject({ can: false, why: expect.stringMatching(/keychain/) as string })
    expect(await secrets.keep(KEY, SECRET)).toMatchObject({ ok: false, error: { code: 'KEYCHAIN' } })
    expect(await keychain('linux').seal(SECRET)).toMatchObject({ ok: false, error: { code: 'KEYCHAIN' } })
    expect(fake.safeStorage.encryptStringAsync.calls).toEqual([])
    expect(files()).toEqual([])
  })

  it('one that was there before is not asked to open what it sealed', async () => {
    expect((await kept().keep(KEY, SECRET)).ok).toBe(true)
    fake.state.backend = 'basic_text'
    expect(await kept().of(KEY)).toBeUndefined()
  })

  it('a browser and a terminal keep nothing', async () => {
    const secrets = new SecretStore(file, undefined)
    expect((await secrets.keep(KEY, SECRET)).ok).toBe(false)
    expect(files()).toEqual([])
  })
})

describe('a passphrase that the keychain keeps', () => {
  it('is in no file as it is typed, and in one for its owner only', async () => {
    expect((await kept().keep(KEY, SECRET)).ok).toBe(true)
    expect(readFileSync(file, 'utf8')).not.toContain(SECRET)
    expect(readFileSync(file, 'utf8')).not.toContain(Buffer.from(SECRET).toString('base64'))
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o077).toBe(0)
    expect((await kept().of(KEY))?.toString()).toBe(SECRET)
  })

  it('answers for its key without a person, and is forgotten once it does not open it', async () => {
    const secrets = kept()
    const asks = new PassphrasePrompts(() => undefined, secrets)
    const first = asks.passphrase({ file: KEY, attempt: 1 })
    await vi.waitFor(() => expect(asks.list).toHaveLength(1))
    expect((await asks.answer(asks.list[0]?.id ?? '', SECRET, true)).ok).toBe(true)
    expect((await first)?.toString()).toBe(SECRET)

    expect((await asks.passphrase({ file: KEY, attempt: 1 }))?.toString()).toBe(SECRET)
    expect(asks.list).toEqual([])
    const second = asks.passphrase({ file: KEY, attempt: 2 })
    await vi.waitFor(() => expect(asks.list).toHaveLength(1))
    expect(secrets.files).toEqual([])
    await asks.answer(asks.list[0]?.id ?? '', 'another')
    expect((await second)?.toString()).toBe('another')
    // Storing it was not requested.
    expect(kept().files).toEqual([])
  })

  it('waits on where it could not be kept, so that it can be used without', async () => {
    const asks = new PassphrasePrompts(() => undefined, kept())
    const requests = asks.passphrase({ file: KEY, attempt: 1 })
    await vi.waitFor(() => expect(asks.list).toHaveLength(1))
    const id = asks.list[0]?.id ?? ''
    fake.state.backend = 'basic_text'
    expect(await asks.answer(id, SECRET, true)).toMatchObject({ ok: false, error: { code: 'KEYCHAIN' } })
    expect((await asks.answer(id, SECRET, false)).ok).toBe(true)
    expect((await requests)?.toString()).toBe(SECRET)
  })

  it('is forgotten by one word, one or all', async () => {
    const secrets = kept()
    for (const key of ['/a', '/b', '/c']) await secrets.keep(key, SECRET)
    expect([secrets.forget('/b'), secrets.forget('/x'), secrets.forget(null)]).toEqual(
      [1, 0, 2].map((value) => ({ ok: true, value })),
    )
    expect(kept().files).toEqual([])
  })

  it('is asked for again where the file is damaged, of another version, or no file', async () => {
    for (const text of ['', '{', '[]', '{"version":2,"passphrases":{}}', '{"version":1,"passphrases":{"/a":7}}']) {
      writeFileSync(file, text)
      expect(kept().files).toEqual([])
    }
  })
})
