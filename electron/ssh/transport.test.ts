import { expect, it } from 'vitest'
import { weakAlgorithms } from './algorithms.ts'
import { backoffMs } from './backoff.ts'

it('CVE-2023-48795: chacha20 without strict key exchange is refused', () => {
  const agreed = { kex: 'curve25519-sha256', hostKey: 'ssh-ed25519', mac: 'implicit' }
  const chacha = { ...agreed, cipher: 'chacha20-poly1305@openssh.com' }
  expect(weakAlgorithms({ ...chacha, isStrict: false })).toContain('CVE-2023-48795')
  expect(weakAlgorithms({ ...chacha, isStrict: true })).toBeUndefined()
  expect(weakAlgorithms({ ...agreed, cipher: 'aes128-gcm@openssh.com', isStrict: false })).toBeUndefined()
})

it('waits after a loss grow and are spread', () => {
  const b = { baseMs: 1000, mostMs: 60_000 }
  expect([1, 2, 3, 7, 100].map((n) => backoffMs(b, n, 0))).toEqual([500, 1000, 2000, 30_000, 30_000])
  expect([1, 2, 3, 7, 100].map((n) => backoffMs(b, n, 0.5))).toEqual([750, 1500, 3000, 45_000, 45_000])
})
