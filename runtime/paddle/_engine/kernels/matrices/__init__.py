"""Products of matrices by loops of our own: of a matrix of every moment (panels), of few rows (products), of
many (blocks, pieces), and the parts of such a product that registers hold (tiles, amx). It must never know an
operator."""
