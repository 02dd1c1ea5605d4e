import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { ERRNO, namesOf, O_CREAT, O_EXCL, type Attributes } from './meta-calls.ts'
import { MetaStore } from './meta-store.ts'

const bytes = (text: string): Buffer => Buffer.from(text)

function opened(file = join(tempFolder(), 'meta'), servers = ['/a', '/b']): MetaStore {
  return new MetaStore(file, { servers, stripes: 2, stripeSize: 4096, nowUs: () => 1_000_000 })
}

function created(store: MetaStore, path: string, flags = O_CREAT): Attributes {
  const found = store.open({ flags, mode: 0o600, stripes: 0, stripeSize: 0, path: bytes(path) })
  if (typeof found === 'number') throw new Error(`${path}: ${found}`)
  return found.attributes
}

describe('names', () => {
  it('are created, found, renamed and removed as by POSIX', () => {
    const store = opened()
    expect(store.mkdir(bytes('/d'), 0o700)).toBe(0)
    expect(store.mkdir(bytes('d/'), 0o700)).toBe(ERRNO.EEXIST)
    const f = created(store, '/d/f')
    expect(f).toMatchObject({ kind: 'file', mode: 0o600, layout: { base: 1, stripes: 2, stripeSize: 4096 } })
    expect(created(store, '/d/./../d//f')).toEqual(f)
    expect(store.open({ flags: O_CREAT | O_EXCL, mode: 0, stripes: 0, stripeSize: 0, path: bytes('/d/f') })).toBe(
      ERRNO.EEXIST,
    )
    expect(store.open({ flags: 0, mode: 0, stripes: 0, stripeSize: 0, path: bytes('/d/g') })).toBe(ERRNO.ENOENT)
    expect(store.open({ flags: O_CREAT, mode: 0, stripes: 1, stripeSize: 5000, path: bytes('/g') })).toBe(ERRNO.EINVAL)
    expect(store.stat(bytes('/d/f/x'))).toBe(ERRNO.ENOTDIR)
    expect(store.rmdir(bytes('/d'))).toBe(ERRNO.ENOTEMPTY)
    expect(store.rmdir(bytes('/'))).toBe(ERRNO.EBUSY)
    expect(store.unlink(bytes('/d'))).toBe(ERRNO.EISDIR)
    expect(store.rename(bytes('/d'), bytes('/d/e'))).toBe(ERRNO.EINVAL)
    expect(store.rename(bytes('/d/f'), bytes('/d'))).toBe(ERRNO.ENOTEMPTY)
    expect(store.rename(bytes('/d/f'), bytes('/h'))).toBeUndefined()
    const other = created(store, '/other')
    expect(other.layout?.base).toBe(3)
    expect(store.rename(bytes('/h'), bytes('/other'))).toMatchObject({ node: other.node })
    expect(store.stat(bytes('/other'))).toEqual(f)
    expect(store.orphans(9).map((o) => o.node)).toEqual([other.node])
    store.purged(other.node)
    expect(store.orphans(9)).toEqual([])
    expect(store.rmdir(bytes('/d'))).toBe(0)
    expect(store.readdir(bytes('/'))).toEqual([bytes('other')])
    expect(store.unlink(bytes('/other'))).toMatchObject({ node: f.node })
    expect(store.unlink(bytes('/other'))).toBe(ERRNO.ENOENT)
    store.close()
  })

  it('are any bytes but NUL, and bounded', () => {
    const store = opened()
    const name = Buffer.from([0x2f, 0xff, 0xfe, 0x27, 0x22, 0x0a])
    expect(store.mkdir(name, 0o755)).toBe(0)
    expect(store.readdir(bytes(''))).toEqual([name.subarray(1)])
    expect(namesOf(Buffer.from('a\0b'))).toBe(ERRNO.EINVAL)
    expect(namesOf(bytes('x'.repeat(256)))).toBe(ERRNO.ENAMETOOLONG)
    expect(namesOf(bytes('x/'.repeat(2049)))).toBe(ERRNO.ENAMETOOLONG)
    expect(namesOf(bytes('../../a'))).toEqual([bytes('a')])
    store.close()
  })
})

describe('the database', () => {
  it('keeps names, ids and resources when it is opened again, with a higher epoch', () => {
    const file = join(tempFolder(), 'meta')
    const store = opened(file)
    const f = created(store, '/f')
    const client = store.newClient()
    const { fileSystem, epoch } = store
    store.close()
    const again = opened(file)
    expect(again.fileSystem).toBe(fileSystem)
    expect(again.epoch).toBe(epoch + 1)
    expect(again.stat(bytes('/f'))).toEqual(f)
    expect(again.newClient()).toBe(client + 1)
    expect(created(again, '/g').layout?.base).toBe(3)
    again.close()
  })

  it('refuses another number of servers', () => {
    const file = join(tempFolder(), 'meta')
    opened(file).close()
    expect(() => opened(file, ['/a'])).toThrow('striped over 2 servers, and 1 are named')
  })

  it('carries out a repeated call once, also after a restart', () => {
    const file = join(tempFolder(), 'meta')
    const store = opened(file)
    created(store, '/f')
    let calls = 0
    const act = (from: MetaStore) => () => {
      calls++
      const found = from.unlink(bytes('/f'))
      return { result: typeof found === 'number' ? -found : 1, body: bytes('x') }
    }
    expect(store.once(1, 5, 5, act(store)).result).toBe(1)
    store.close()
    const again = opened(file)
    expect(again.once(1, 5, 5, act(again))).toEqual({ result: 1, body: bytes('x') })
    expect(calls).toBe(1)
    expect(again.once(2, 5, 5, act(again)).result).toBe(-ERRNO.ENOENT)
    // Once the client knows the answer it is forgotten.
    again.once(1, 6, 6, () => ({ result: 0, body: bytes('') }))
    expect(again.once(1, 5, 6, act(again)).result).toBe(-ERRNO.ENOENT)
    again.close()
  })
})
