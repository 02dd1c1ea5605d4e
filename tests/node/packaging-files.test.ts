/** Packaging files: icons are rendered from their sources, and the workflow has the intended shape. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createCanvas, loadImage } from '@napi-rs/canvas'
import { describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import * as z from 'zod'
import { tempFolder } from './temp-folder.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'resources/icons')
const SIZES = [16, 24, 32, 48, 64, 128, 256, 512, 1024]

describe('the icons', () => {
  const png = (of: string, size: number): Buffer => readFileSync(join(of, `${size}x${size}.png`))

  it('are those that the two drawings give', async () => {
    const { icons } = (await import(pathToFileURL(join(root, 'scripts/icons.mjs')).href)) as {
      readonly icons: (into: string) => Promise<number>
    }
    const fresh = tempFolder()
    await icons(fresh)
    expect(
      readdirSync(folder)
        .filter((name) => !name.endsWith('.svg'))
        .sort(),
    ).toEqual(readdirSync(fresh).sort())
    for (const size of SIZES) {
      const [kept, drawn] = await Promise.all([folder, fresh].map(async (of) => pixels(png(of, size), size)))
      // Another processor may round an edge differently; another image differs by far more.
      const apart = kept?.reduce((sum, value, i) => sum + Math.abs(value - (drawn?.[i] ?? 0)), 0) ?? Infinity
      expect(apart / (size * size * 4), `${size}`).toBeLessThan(0.5)
    }
  })

  it('are in the containers of Windows and macOS as they are', () => {
    const ico = readFileSync(join(folder, 'sluice.ico'))
    expect([ico.readUInt16LE(0), ico.readUInt16LE(2)]).toEqual([0, 1])
    const inIco = Array.from({ length: ico.readUInt16LE(4) }, (_, i) => {
      const at = 6 + 16 * i
      const bytes = ico.readUInt32LE(at + 8)
      const from = ico.readUInt32LE(at + 12)
      return { size: ico.readUInt8(at) || 256, body: ico.subarray(from, from + bytes) }
    })
    expect(inIco.map(({ size }) => size)).toEqual([16, 24, 32, 48, 64, 128, 256])
    for (const { size, body } of inIco) expect(body.equals(png(folder, size)), `${size}`).toBe(true)

    const icns = readFileSync(join(folder, 'sluice.icns'))
    expect(icns.toString('latin1', 0, 4)).toBe('icns')
    expect(icns.readUInt32BE(4)).toBe(icns.length)
    const sizes: number[] = []
    for (let at = 8; at < icns.length; at += icns.readUInt32BE(at + 4)) {
      const body = icns.subarray(at + 8, at + icns.readUInt32BE(at + 4))
      const size = body.readUInt32BE(16)
      expect(body.equals(png(folder, size)), icns.toString('latin1', at, at + 4)).toBe(true)
      sizes.push(size)
    }
    expect(new Set(sizes)).toEqual(new Set([16, 32, 64, 128, 256, 512, 1024]))
  })
})

async function pixels(png: Buffer, size: number): Promise<Uint8ClampedArray> {
  const image = await loadImage(png)
  expect([image.width, image.height]).toEqual([size, size])
  const context = createCanvas(size, size).getContext('2d')
  context.drawImage(image, 0, 0)
  return context.getImageData(0, 0, size, size).data
}

const step = z.strictObject({
  name: z.string().optional(),
  if: z.string().optional(),
  uses: z
    .string()
    .regex(/^actions\/[a-z-]+@(v\d+|[0-9a-f]{40})$/)
    .optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  run: z.string().optional(),
})
const job = z.looseObject({ 'runs-on': z.string(), 'timeout-minutes': z.number(), steps: z.array(step).min(3) })
const workflow = z.strictObject({
  name: z.string(),
  on: z.looseObject({ pull_request: z.null() }),
  permissions: z.strictObject({ contents: z.literal('read') }),
  concurrency: z.unknown(),
  jobs: z.strictObject({
    check: job,
    package: job.extend({
      needs: z.literal('check'),
      strategy: z.object({ matrix: z.object({ include: z.array(z.record(z.string(), z.string())) }) }),
    }),
  }),
})

describe('the workflow', () => {
  const text = readFileSync(join(root, '.github/workflows/package.yml'), 'utf8')
  const document = parseDocument(text)

  it('has no secret, no right to write, and every program that it runs is there', () => {
    expect(document.errors).toEqual([])
    const { jobs } = workflow.parse(document.toJS())
    expect(text).not.toMatch(/secrets\.|token/i)
    const runs = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
    for (const [, name] of runs.join('\n').matchAll(/npm run (?:--silent )?(\w+)/g))
      expect(scripts).toHaveProperty(name ?? '')
    const files = [...runs.join('\n').matchAll(/\b((?:scripts|tests)\/[\w/.]+)/g)].map(([, file]) => file ?? '')
    expect(new Set(files)).toEqual(new Set(['scripts/boot.mjs', 'scripts/smoke.mjs', 'tests/e2e/launch.test.ts']))
    for (const file of files) expect(() => readFileSync(join(root, file))).not.toThrow()
  })

  it('runs actions of others by commit: a tag can be moved', () => {
    const { jobs } = workflow.parse(document.toJS())
    const uses = Object.values(jobs).flatMap(({ steps }) => steps.flatMap((step) => step.uses ?? []))
    expect(uses.length).toBeGreaterThan(0)
    for (const action of uses) expect(action).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/)
  })

  it('packs on all three systems, opens the window from both, and starts what is installed', () => {
    const { jobs } = workflow.parse(document.toJS())
    expect(jobs.package.strategy.matrix.include.map(({ os }) => os?.split('-')[0])).toEqual([
      'ubuntu',
      'macos',
      'windows',
    ])
    const launches = jobs.package.steps.filter(({ run }) => run?.includes('launch.test.ts'))
    expect(launches.map(({ env }) => [env?.SLUICE_MUST_LAUNCH, env?.SLUICE_APP !== undefined])).toEqual([
      ['1', false],
      ['1', true],
    ])
  })
})

it('the installation runs no script of a package, whatever npm it is', () => {
  expect(readFileSync(join(root, '.npmrc'), 'utf8').split('\n')).toContain('ignore-scripts=true')
})
