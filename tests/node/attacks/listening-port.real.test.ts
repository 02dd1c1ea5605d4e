/** Another program of the machine, or a page in a browser, that looks for a port of the desktop console: there is none. */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { tempFolder } from '../temp-folder.ts'

const LISTEN = '0A'

/** Local addresses on which a process listens, from the kernel: like `ss -ltn`. */
function listeningOf(pid: number): string[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
      } catch {
        return [] // closed meanwhile
      }
    }),
  )
  return ['tcp', 'tcp6'].flatMap((kind) => {
    const file = `/proc/${pid}/net/${kind}`
    if (!existsSync(file)) return []
    const lines = readFileSync(file, 'utf8').trim().split('\n').slice(1)
    return lines.flatMap((line) => {
      const words = line.trim().split(/\s+/)
      return words[3] === LISTEN && inodes.has(words[9] ?? '') ? [words[1] ?? ''] : []
    })
  })
}

const started = async (program: string, args: readonly string[]) => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const output = await new Promise<string>((resolve) => createInterface(child.stdout).once('line', resolve))
  return { child, ended, output, pid: child.pid ?? 0 }
}

it.skipIf(!existsSync('/proc/self/net/tcp'))('finds none: the host of the window listens nowhere', async () => {
  const host = await started(join(import.meta.dirname, 'host-child.ts'), [tempFolder()])
  expect(host.output).toBe('ready')
  expect(listeningOf(host.pid)).toEqual([])
  host.child.stdin.end()
  expect(await host.ended).toBe(0)
  // The same check finds an actual listener.
  const file = join(import.meta.dirname, 'listening-child.ts')
  const other = await started(file, [])
  expect(listeningOf(other.pid)).toHaveLength(1)
  other.child.kill('SIGKILL')
  await other.ended
})
