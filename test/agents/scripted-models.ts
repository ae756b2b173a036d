/**
 * Models that follow a script, each made with its SDK's support for tests: first they call a tool, then they repeat its
 * result. A picture that does not reach the model as a picture is an error.
 */

/** A program with a number as its value, which shows a picture of one pixel. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const python = [
  'import base64',
  `picture = base64.b64decode("${pixel}")`,
  'display({"image/png": picture}, raw=True)',
  '2 ** 100',
].join('\n')

const shared = `
const pixel = '${pixel}'
const calls = {
  run_python: ${JSON.stringify({ code: python })},
  run_snippet: { source: 'emit(read_input().length)', input: 'lazaret' },
}
const expectPixel = (data) => {
  if (data !== pixel) throw new Error('The picture did not arrive: ' + data)
}`

const aiSdk = `
import { MockLanguageModelV4 } from 'ai/test'
${shared}
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
export const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt, tools }) => {
    const told = prompt.at(-1)
    const toolName = tools[0].name
    if (told.role !== 'tool') {
      const call = { type: 'tool-call', toolCallId: '1', toolName, input: JSON.stringify(calls[toolName]) }
      return { content: [call], finishReason: { unified: 'tool-calls' }, usage, warnings: [] }
    }
    const { output } = told.content[0]
    if (output.type === 'json') return answer(JSON.stringify(output.value))
    const [{ text }, file] = output.value
    expectPixel(file.data.data)
    return answer(text)
  },
})
const answer = (text) => ({
  content: [{ type: 'text', text }], finishReason: { unified: 'stop' }, usage, warnings: [],
})`

const langChain = `
import { AIMessage, fakeModel } from 'langchain'
${shared}
export const model = fakeModel()
  .respondWithTools([{ name: 'run_python', args: calls.run_python, id: '1' }])
  .respond((messages) => {
    const [{ text }, image] = messages.at(-1).content
    expectPixel(image.data)
    return new AIMessage(text)
  })`

const openAi = `
import { setTracingDisabled, Usage } from '@openai/agents'
${shared}
setTracingDisabled(true)
export const model = {
  async getResponse({ input }) {
    const told = input.at(-1)
    if (told.type !== 'function_call_result') {
      const call = { type: 'function_call', callId: '1', name: 'run_python', status: 'completed' }
      return { usage: new Usage(), output: [{ ...call, arguments: JSON.stringify(calls.run_python) }] }
    }
    const [{ text }, { image }] = told.output
    expectPixel(typeof image === 'string' ? image.split(',').at(-1) : image.data)
    const content = [{ type: 'output_text', text }]
    return { usage: new Usage(), output: [{ type: 'message', role: 'assistant', status: 'completed', content }] }
  },
  async *getStreamedResponse() {
    throw new Error('Nobody streams here.')
  },
}`

/** By the package whose programs they serve. */
export const scriptedModels: Readonly<Record<string, string>> = {
  ai: aiSdk,
  langchain: langChain,
  '@openai/agents': openAi,
}
