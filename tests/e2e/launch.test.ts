/** The real Electron binary, where there is one and a display to show it on. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { _electron as electron, type ElectronApplication } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

function binary(): string | undefined {
  const folder = join(root, 'node_modules/electron')
  try {
    const file = join(folder, 'dist', readFileSync(join(folder, 'path.txt'), 'utf8'))
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

function skipReason(): string | undefined {
  if (!binary()) return 'the Electron binary is not installed'
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return 'there is no display'
  if (!existsSync(join(root, 'out/main/main.js'))) return 'the console is not built'
  return undefined
}
const reason = skipReason()
if (reason) console.log(`The suite with the real Electron window is skipped: ${reason}.`)

describe.skipIf(reason)('the real Electron window', () => {
  let data: string
  let app: ElectronApplication

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'sluice-launch-'))
    // Chromium's sandbox does not work as root, which is who runs tests in a container.
    const rootFlags = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    app = await electron.launch({
      executablePath: binary() ?? '',
      args: [root, ...rootFlags],
      env: { ...(process.env as Record<string, string>), SLUICE_DATA: data },
    })
  })
  afterAll(async () => {
    await app.close()
    rmSync(data, { recursive: true, force: true })
  })

  it('opens on the app scheme, with a port to the host and no other power', async () => {
    const page = await app.firstWindow()
    expect(page.url()).toMatch(/^app:\/\/sluice\//)
    const seen = await page.evaluate(async () => {
      const port = new Promise<boolean>((resolve) => {
        window.addEventListener('message', (event: MessageEvent<{ type?: string }>) => {
          if (event.data.type === 'sluice:port') resolve(event.ports.length === 1)
        })
      })
      window.postMessage({ type: 'sluice:connect' }, location.origin)
      const reached = await fetch('https://example.org/').then(
        () => true,
        () => false,
      )
      let evaluated = true
      try {
        ;(0, eval)('1')
      } catch {
        evaluated = false
      }
      const require = typeof (globalThis as { require?: unknown }).require
      return { port: await port, reached, evaluated, require, popup: window.open('https://example.org/') }
    })
    expect(seen).toEqual({ port: true, reached: false, evaluated: false, require: 'undefined', popup: null })
  })

  it('refuses a second instance of itself', async () => {
    const windows = await app.evaluate(({ app: main, BrowserWindow }) => {
      main.emit('second-instance')
      return BrowserWindow.getAllWindows().length
    })
    expect(windows).toBe(1)
  })
})
