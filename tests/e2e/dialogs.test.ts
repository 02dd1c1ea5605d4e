/** Nested dialogs, on a locked cluster over SSH: the one opened last is on top and has the keyboard focus. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readClusters } from '#electron/cluster/live/cluster-file.ts'
import { noSshd, scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { launch, noBrowser, openConsole, type RunningConsole } from './browser.ts'
import { lookAt, openPage, type OpenPage } from './page.ts'

describe.skipIf(noBrowser !== undefined || noSshd !== '')('dialogs that are opened from each other', () => {
  let browser: Browser
  let lab: Lab
  let running: RunningConsole
  let open: OpenPage
  let page: Page

  beforeAll(async () => {
    ;[browser, lab] = await Promise.all([launch(), startLab({ servers: ['oss01', 'oss02'] })])
    const read = readClusters(lab.clusterFile)
    if (!read.ok) throw new Error(read.error.why)
    running = await openConsole(undefined, {
      clusters: read.value.map((cluster) => ({ ...cluster, name: 'lab', safeMode: 'review+unlock' as const })),
      ssh: {
        home: scratch(),
        configFile: null,
        knownHosts: [{ path: lab.knownHosts, isRequired: true }],
        agentSocket: '',
      },
    })
    const { clusters } = running.host
    const connected = clusters.connect('lab')
    if (!connected.ok) throw new Error(connected.error.what)
    clusters.show('lab')
    open = await openPage(browser, running.served.url, '', true)
    page = open.page
    await by('cluster').filter({ hasText: 'lab' }).waitFor()
  })
  afterAll(async () => {
    await running?.close()
    await lab?.stop()
    await browser?.close()
  })

  const by = (id: string) => page.getByTestId(id)
  /** Name of the dialog visible in the middle of the window, regardless of pointer events. */
  const onTop = (): Promise<string | undefined> =>
    page.evaluate(() => {
      const off = [...document.querySelectorAll<HTMLElement>('[role$=dialog]')].map(
        (d) => [d, d.style.pointerEvents] as const,
      )
      for (const [dialog] of off) dialog.style.pointerEvents = 'auto'
      const seen = document.elementFromPoint(innerWidth / 2, innerHeight / 2)
      for (const [dialog, was] of off) dialog.style.pointerEvents = was
      return seen?.closest<HTMLElement>('[role$=dialog]')?.dataset['testid']
    })
  const focused = (): Promise<string | undefined> =>
    page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset['testid'])

  it('unlocks from Review, on top of it, and commits what was reviewed', async () => {
    await page.keyboard.press('3')
    await by('new-rule').click()
    await by('rule-text').fill('reg start sl_cap jobid={4690*} rate=25')
    await by('stage').click()
    await by('review').click()
    await by('review-dialog').waitFor()
    await by('review-unlock').focus()
    await page.keyboard.press('Enter')
    await by('unlock-dialog').waitFor()
    expect(await onTop()).toBe('unlock-dialog')
    await expect.poll(focused).toBe('unlock-typed')

    // Esc closes the question on top, not the review beneath it.
    await page.keyboard.press('Escape')
    await by('unlock-dialog').waitFor({ state: 'detached' })
    expect(await onTop()).toBe('review-dialog')
    await expect.poll(focused).toBe('review-unlock')
    await page.keyboard.press('Enter')
    await by('unlock-typed').fill('lab')
    expect(await lookAt(page, 'review-unlock', 'dark')).toEqual([])
    await by('unlock').click()
    await by('unlock-dialog').waitFor({ state: 'detached' })

    await page.getByRole('dialog', { name: /^Review/ }).waitFor()
    await by('typed').fill(await by('target').innerText())
    await expect.poll(() => by('commit').isEnabled()).toBe(true)
    await by('commit').click()
    await by('commit-result').waitFor({ timeout: 120_000 })
    expect(await lab.rules('oss01')).toContain('sl_cap')
    expect(await lab.rules('oss02')).toContain('sl_cap')
    // No controller was started.
    expect(running.host.monitor.loop.mode).toBe('observe')
    await page.keyboard.press('Escape')
  })

  it('the palette opens on top of Review, and what it opens on top of that', async () => {
    await by('new-rule').click()
    await by('rule-text').fill('reg start sl_other jobid={4711*} rate=25')
    await by('stage').click()
    await by('review').click()
    await by('review-dialog').waitFor()
    expect(await onTop()).toBe('review-dialog')
    await page.keyboard.press('Control+k')
    await by('palette').waitFor()
    await page.keyboard.type('stop and remove')
    await page.keyboard.press('Enter')
    await by('stop-dialog').waitFor()
    expect(await onTop()).toBe('stop-dialog')
    await page.keyboard.press('Escape')
    await by('stop-dialog').waitFor({ state: 'detached' })
    expect(await onTop()).toBe('review-dialog')
    await page.keyboard.press('Escape')
    await by('review-dialog').waitFor({ state: 'detached' })
    expect(open.errors).toEqual([])
  })
})
