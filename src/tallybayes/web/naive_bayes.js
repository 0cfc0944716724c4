/* Naive Bayes in a browser, computed from what `model.payload()` has written.

   import { posterior, predict, terms } from "./naive_bayes.js";
   posterior(model, { income: 120, status: "Single", mail: "You have won!" })  // one a class

   The rules are those of the library. A value that is absent, null or NaN leaves its factor out.
   A text is read here, or given as a bag of words: { won: 1, lottery: 2 }. What the library
   refuses (an unknown column, text for a number, a negative count) is an error here, too. */

const number = (x) => (x === "-inf" ? -Infinity : x === "inf" ? Infinity : x);
const times = (x, log) => (x === 0 ? 0 : x * number(log)); // impossible to the power of 0 is 1
const comparable = (x) => (typeof x === "boolean" ? Number(x) : x);
const isMissing = (x) => x === undefined || x === null || Number.isNaN(x);

/* What a value adds to the score of each class, by the form of its term. */
const FORMS = {
  lookup(term, x) {
    const value = comparable(x);
    const known = term.values.map(comparable);
    if (known.length && typeof value !== typeof known[0])
      throw new TypeError(`${JSON.stringify(x)} is not of the type of ${term.values[0]}`);
    const row = term.rows[known.indexOf(value)] ?? term.unseen;
    if (row === null) throw new RangeError(`${JSON.stringify(x)} is not a known value`);
    return row;
  },
  steps(term, x) {
    return term.rows[intervalOf(term.edges, x)];
  },
  cells(term, values) {
    let at = 0;
    for (const [k, part] of term.parts.entries()) {
      const known = part.edges ? part.edges.length + 1 : Math.max(part.values.length, 1);
      const code = isMissing(values[k]) ? (part.missing ? known : -1) : codeOf(part, values[k]);
      if (code < 0) return undefined;
      at = at * (known + part.missing) + code;
    }
    return term.rows[at]; // none of what never has a gap
  },
  quadratic(term, x) {
    if (term.log && real(x) <= 0) return term.mean.map(() => 0);
    const at = term.log ? Math.log(finite(x)) : finite(x);
    return term.mean.map((mean, c) => term.height[c] - ((at - mean) * term.scale[c]) ** 2);
  },
  "joint quadratic"(term, values) {
    if (values.some(isMissing)) return undefined;
    const far = term.farthest;
    const x = values.map((value, k) =>
      Math.min(Math.max((finite(value) - term.centre[k]) / term.scale[k], -far), far));
    const along = (line) => line.reduce((sum, weight, k) => sum + weight * x[k], 0);
    return term.base.map(
      (base, c) => base + along(term.lines[c]) - along(term.curves[c].map(along)));
  },
  linear(term, x) {
    const value = finite(x);
    if (value < 0) throw new RangeError(`${x} is negative, which no count is`);
    return term.base.map((base, c) => number(base) + times(value, term.weight[c]));
  },
  words(term, x) {
    const sums = term.base.map(number);
    const weights = wordWeights(term, x);
    const rows = [...weights].map(([place, weight]) => [term.rows[place], weight]);
    if (term.absent)
      term.absent.forEach((row, place) => weights.has(place) || rows.push([row, 1]));
    for (const [row, weight] of rows) row.forEach((log, c) => (sums[c] += times(weight, log)));
    return sums;
  },
};

function intervalOf(edges, x) {
  const value = real(x);
  const place = edges.findIndex((edge) => value <= edge);
  return place < 0 ? edges.length : place;
}

/* The code of a value where it is looked at together with others; -1 if it was never seen. */
function codeOf({ edges, values }, x) {
  if (edges) return intervalOf(edges, x);
  return values.length ? values.map(comparable).indexOf(comparable(x)) : 0;
}

function real(x) {
  const value = comparable(x);
  if (typeof value !== "number") throw new TypeError(`${JSON.stringify(x)} is not a number`);
  return value;
}

function finite(x) {
  if (!Number.isFinite(real(x))) throw new RangeError(`${x} is not a finite number`);
  return real(x);
}

/* The words of a text, or of a bag, by their places: what each of them counts. */
function wordWeights(term, x) {
  const places = placesOf(term);
  const bag = new Map();
  for (const [word, count] of typeof x === "string" ? read(term, x) : Object.entries(x)) {
    const place = places.get(word);
    if (place !== undefined && count > 0) bag.set(place, (bag.get(place) ?? 0) + count);
  }
  for (const [place, count] of bag) {
    const times = term.tf === "log" ? Math.log1p(count) : count;
    bag.set(place, term.once ? 1 : times * (term.idf?.[place] ?? 1));
  }
  const norm = term.norm && !term.once ? Math.hypot(...bag.values()) || 1 : 1;
  const length = [...bag.values()].reduce((a, b) => a + b, 0) / norm;
  const below = norm * ((length + (term.length_offset ?? 0)) ** term.length_power || 1);
  return new Map([...bag].map(([place, weight]) => [place, weight / below]));
}

const PLACES = new WeakMap();

function placesOf(term) {
  if (!PLACES.has(term)) PLACES.set(term, new Map(term.words.map((word, place) => [word, place])));
  return PLACES.get(term);
}

/* The words of a text, each as [word, 1], as the library reads them. */
function read({ reader }, text) {
  if (!reader) throw new TypeError("this text is not read here; give a bag: { word: count }");
  let spelled = reader.lowercase ? text.toLowerCase() : text;
  if (!reader.glue) spelled = spelled.replace(/[\p{White_Space}\x1c-\x1f]{2,}/gu, " ");
  const stop = new Set(reader.stop_words);
  const tokens = (spelled.match(new RegExp(reader.pattern, "gu")) ?? []).filter((t) => !stop.has(t));
  const found = [];
  for (let n = reader.ngrams[0]; n <= reader.ngrams[1]; n++)
    for (let k = 0; k + n <= tokens.length; k++)
      found.push([tokens.slice(k, k + n).join(reader.glue), 1]);
  return found;
}

/* What each column adds to the score of each class: a row a column, in the order of
   `model.columns`, up to a number that is the same in all classes. */
export function terms(model, record) {
  const known = new Set([model.target, ...model.columns.flatMap((column) => column.reads)]);
  for (const name of Object.keys(record))
    if (!known.has(name)) throw new RangeError(`there is no column ${JSON.stringify(name)}`);
  return model.columns.map(({ reads, exponent, term }) => {
    const values = reads.map((name) => (Object.hasOwn(record, name) ? record[name] : null));
    const several = term.form === "cells" || term.form === "joint quadratic";
    // cells may count a missing value, too
    if (!several && isMissing(values[0])) return model.classes.map(() => 0);
    try {
      const logs = FORMS[term.form](term, several ? values : values[0]);
      return logs ? logs.map((log) => times(exponent, log)) : model.classes.map(() => 0);
    } catch (error) {
      error.message = `column ${reads.map((name) => JSON.stringify(name))}: ${error.message}`;
      throw error;
    }
  });
}

function scores(model, record) {
  const sums = model.log_prior.map(number);
  for (const row of terms(model, record)) row.forEach((log, c) => (sums[c] += log));
  // where every class is impossible the prior decides
  return Math.max(...sums) === -Infinity ? model.prior.map(Math.log) : sums;
}

/* The posterior probability of each class, in the order of `model.classes`. */
export function posterior(model, record) {
  const sums = scores(model, record);
  const top = Math.max(...sums);
  const shares = sums.map((sum) => Math.exp(sum - top));
  const total = shares.reduce((a, b) => a + b);
  return shares.map((share) => share / total);
}

/* The most probable class; of equals the first, and the positive class only where no other is. */
export function predict(model, record) {
  const sums = scores(model, record);
  const best = model.classes.filter((_, c) => sums[c] === Math.max(...sums));
  return best.find((label) => label !== model.positive) ?? best[0];
}
